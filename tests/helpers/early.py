"""Streams of windows that are given while they are open, and what is the latest of each."""

from __future__ import annotations

from tests.helpers.dataframes import collected, write_batch


def inbox(tmp_path, batches):
    folder = tmp_path / "in"
    folder.mkdir(exist_ok=True)
    for rows in batches:
        write_batch(folder, len(list(folder.iterdir())), rows)
    return folder


def run(found, tmp_path, mode="update"):
    """Each micro-batch's rows, in order; a second call goes on from the checkpoint."""
    batches = []

    def keep(rows, number):
        batches.append((number, collected(rows)))

    started = (
        found.writeStream.outputMode(mode)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .foreachBatch(keep)
        .start()
    )
    started.awaitTermination()
    return [rows for _, rows in sorted(batches, key=lambda one: one[0])]


def latest(key_of, batches):
    """The last result of each window; none after a final one."""
    table = {}
    for rows in batches:
        assert len({key_of(row) for row in rows}) == len(rows)
        for row in rows:
            assert not table.get(key_of(row), {}).get("final")
            table[key_of(row)] = row
    return table
