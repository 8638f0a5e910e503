"""By a Python that has the wheel and a web server, but no PySpark: the page of a query."""

from __future__ import annotations

from importlib.util import find_spec
from urllib.request import urlopen

import fanlight as fl


class Query:
    """A streaming query, as far as a page asks it, before its first micro-batch."""

    def __init__(self):
        self.name, self.isActive, self.status = "busy", True, {"message": "Initializing"}
        self.recentProgress, self.lastProgress = (), None

    def exception(self):
        return None


def main():
    assert find_spec("pyspark") is None, "this environment should have no PySpark"
    with fl.watch(Query()) as served, urlopen(served.url) as answer:  # noqa: S310 - our own
        page = answer.read().decode()
    assert "<h1>busy</h1>" in page, page[:2_000]
    assert not served.running


if __name__ == "__main__":
    main()
    print("without PySpark: the page of a query")
