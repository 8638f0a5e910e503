"""Breakages of replays and of upserts, which tests without Spark see."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code, InText

arrivals = seen_by("tests/replay/test_replay_arrivals.py")
reader = seen_by("tests/replay/test_replay_reader.py")
texts = seen_by("tests/replay/test_replay_files.py")
values = seen_by("tests/upsert/test_upsert_values.py")
bases = seen_by("tests/upsert/test_upsert_bases.py")

BREAKAGES = (
    arrivals(
        "a late row is not late", "compute_arrivals", Code("disorder.most + 1 + beyond", "beyond")
    ),
    arrivals("a row that is due waits", "Clock.count_arrived", InText("right", "left")),
    reader(
        "rows of the wrong row group",
        "Parquet.read_rows",
        Code("rows[groups == group] - begin", "rows[groups == group]"),
    ),
    reader(
        "a partition in the order of the file",
        "Index.select_part",
        Code(
            "rising = numbers[by_number]",
            "rising = numbers[by_number]\nby_number = np.arange(len(numbers))",
        ),
    ),
    reader(
        "any checkpoint will do",
        "Reader.read_offset",
        Code('offset["order"] != self.index.fingerprint', 'not offset["order"]'),
    ),
    reader(
        "a micro-batch without limit",
        "LimitedReader.latestOffset",
        Code("min(self.count_arrived(at), at + most)", "self.count_arrived(at)"),
    ),
    texts(
        "times of the machine's zone",
        "parse_time",
        Code("time.replace(tzinfo=time.tzinfo or UTC)", "time.astimezone(UTC)"),
    ),
    values(
        "two rows of one key",
        "sql_tables:check_key",
        Code("counted.num_rows < table.num_rows", "counted.num_rows < 0"),
    ),
    values(
        "times of the session's zone", "_type_in_utc", Code('"UTC" if kind.tz else None', "kind.tz")
    ),
    values(
        "NaN is null",
        "_to_real",
        Code("float_text(value) if math.isnan(value) else value", "value"),
    ),
    bases(
        "a micro-batch counts again",
        "remember_batch_sql",
        InText(".batch < excluded.batch", ".batch <= excluded.batch"),
    ),
    bases("the old value stays", "insert_sql", InText("= excluded.", "= ")),
)
