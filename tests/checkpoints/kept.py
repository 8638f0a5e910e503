"""Kept checkpoints: how they are made, and how one goes on.

An archive has what a stream has left after some files: its ``checkpoint``, its source ``in``, the
files that arrive ``later``, and ``answer.json``, what it then gives. Spark writes absolute paths
into a checkpoint, of source files and of the schemas of state; in an archive they begin with
``ROOT``.
"""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path

import pyspark

import fanlight as fl
from tests.checkpoints.streams import BEFORE, DELAY, STREAMS, batches
from tests.helpers.dataframes import SENTINEL, collected, table, timed
from tests.helpers.streams import gather_batches, source, write_files
from tests.law.run import beside

HERE = Path(__file__).parent
ROOT = "@ROOT@"
ANSWER = "answer.json"


def archive(name):
    return HERE / f"{name}.tar.xz"


def begin(spark, name, folder):
    """Run the stream over the first files, and lay out the others beside them."""
    every = list(batches(change=STREAMS[name].change))
    write_files(folder / "in", *every[:BEFORE])
    write_files(folder / "later", *every[BEFORE:], first=BEFORE)
    return answer(spark, name, folder)


def go_on(spark, name, folder):
    """What the stream gives when it goes on, over the files that come later."""
    for path in sorted((folder / "later").iterdir()):
        shutil.move(path, folder / "in")
    return answer(spark, name, folder)


def answer(spark, name, folder):
    """The rows that the stream gives until it has seen all files; once each that are final."""
    stream = STREAMS[name]
    result = stream.query(source(beside(spark, *stream.conf), folder / "in", DELAY))
    given = gather_batches(result, folder, stream.mode)
    return as_json(row for rows in given for row in rows if row.get("final", True))


def expected(spark, name):
    """The batch's answer over all files, without what is late."""
    stream = STREAMS[name]
    every = [row for rows in batches([], stream.change) for row in rows]
    df = timed(spark.createDataFrame(table(every)))
    result = stream.query(df)
    return as_json(collected(result.where(stream.kept)))


def as_json(rows):
    """Rows as JSON has them, in order; without those of the row that closes all windows."""
    rows = [row for row in rows if SENTINEL["k"] not in (row.get("k"), row.get("b"))]
    rows = [{name: _rounded(row[name]) for name in sorted(row) if name != "final"} for row in rows]
    texts = sorted(json.dumps(row, default=str) for row in rows)
    return [json.loads(text) for text in texts]


def in_time(rows):
    """Without the late rows that are collected."""
    return [row for row in rows if not row.get("late")]


def _rounded(value):
    """Doubles that a batch and a stream may add up in another order."""
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, (list, tuple)) else value


def pack(folder, name, rest):
    """Write the archive, from the folder in which the stream has stopped."""
    made = {"fanlight": fl.__version__, "pyspark": pyspark.__version__, "rows": rest}
    (folder / ANSWER).write_text(json.dumps(made))
    with tarfile.open(archive(name), "w:xz", preset=9) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                data = path.read_bytes().replace(str(folder).encode(), ROOT.encode())
                entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
                entry.size, entry.mtime = len(data), int(path.stat().st_mtime)
                packed.addfile(entry, io.BytesIO(data))


def unpack(name, folder):
    """Lay out an archive in a folder; what the stream must give there, and who made it."""
    with tarfile.open(archive(name)) as packed:
        packed.extractall(folder, filter="data")
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if ROOT.encode() in data:
                path.write_bytes(data.replace(ROOT.encode(), str(folder).encode()))
    return json.loads((folder / ANSWER).read_text())
