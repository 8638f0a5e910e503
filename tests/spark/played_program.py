"""A stream of its own, to be killed: it plays files, and notes the rows of each micro-batch.

python -m tests.spark.played_program FOLDER [availableNow]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import fanlight as fl
from tests.helpers.sparks import start

KEYS = {"table": "rows", "key": "id", "stream": "killed"}


def main(folder, trigger):
    spark = start()
    rows = fl.replay(
        spark, f"{folder}/rows", format="parquet", time="ts", max_rows_per_batch=20,
        disorder="1 minute",         late_share=0.1, lateness="10 minutes", seed=7,
    )  # fmt: skip
    write = fl.upsert(f"sqlite:///{folder}/rows.db", **KEYS)

    def note(found, batch):
        write(found.selectExpr("id", f"{batch} AS batch"), batch)
        half = folder / f"half-{batch}"
        half.write_text(json.dumps([row.id for row in found.collect()]))
        half.rename(folder / f"batch-{batch}")

    writer = rows.writeStream.foreachBatch(note).trigger(**trigger)
    writer.option("checkpointLocation", f"{folder}/checkpoint").start().awaitTermination()


if __name__ == "__main__":
    ends = sys.argv[2:] == ["availableNow"]
    main(Path(sys.argv[1]), {"availableNow": True} if ends else {"processingTime": "1 second"})
