"""By a Python that has the wheel and lark, but no PySpark: clauses, and what a query says."""

from __future__ import annotations

from importlib.util import find_spec

import fanlight as fl


def main():
    assert find_spec("pyspark") is None, "this environment should have no PySpark"
    text = fl.clause(fl.Sliding("4 minutes", "1 minute"), time="ts", by="item")
    assert text == "[WATTR ts PARTITION BY item RANGE 4 MINUTES SLIDE 1 MINUTE]", text
    told = ""
    try:
        fl.sql(f"SELECT count(*) FROM bids {text}")
    except ModuleNotFoundError as error:
        told = str(error)
    assert "pip install 'fanlight[spark]'" in told, told


if __name__ == "__main__":
    main()
    print("without PySpark: clauses of the query language, and an error that says what to install")
