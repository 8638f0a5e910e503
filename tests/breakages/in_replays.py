"""Breakages of replays and of upserts, which tests without Spark see."""

from __future__ import annotations

from tests.breakages.breakage import within

arrivals = within("spark/replay/arrivals.py", "tests/replay/test_replay_arrivals.py")
clock = within("spark/replay/clock.py", "tests/replay/test_replay_arrivals.py")
files = within("spark/replay/files.py", "tests/replay/test_replay_reader.py")
index = within("spark/replay/index.py", "tests/replay/test_replay_reader.py")
source = within("spark/replay/source.py", "tests/replay/test_replay_reader.py")
text = within("spark/replay/text.py", "tests/replay/test_replay_files.py")
rows = within("spark/upsert/rows.py", "tests/upsert/test_upsert_values.py")
sqlite = within("spark/upsert/sqlite.py", "tests/upsert/test_upsert_values.py")
target = within("spark/upsert/target.py", "tests/upsert/test_upsert_bases.py")

BREAKAGES = (
    arrivals("a late row is not late", "disorder.most + 1 + beyond", "beyond"),
    clock("a row that is due waits", 'side="right"', 'side="left"'),
    files("rows of the wrong row group", "rows[groups == group] - begin", "rows[groups == group]"),
    index("a partition in the order of the file", "rising = numbers[by_number]",
          "rising = numbers[by_number]\n        by_number = np.arange(len(numbers))"),
    source("any checkpoint will do", 'offset["order"] != self.index.print', 'not offset["order"]'),
    source("a micro-batch without limit", "min(self.due(at), at + most)", "self.due(at)"),
    text("times of the machine's zone", "made.replace(tzinfo=made.tzinfo or UTC)",
         "made.astimezone(UTC)"),
    rows("two rows of one key", "counted.num_rows < table.num_rows", "counted.num_rows < 0"),
    rows("times of the session's zone", '"UTC" if kind.tz else None', "kind.tz"),
    sqlite("NaN is null", "float_text(value) if math.isnan(value) else value", "value"),
    target("a micro-batch counts again", ".batch < excluded.batch", ".batch <= excluded.batch"),
    target("the old value stays", "= excluded.{quoted(name)}", "= {quoted(name)}"),
)  # fmt: skip
