"""The cost model's table: that programs read it, what they write into it, and what it says."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks import constants
from benchmarks.constants import HEADER, compared, in_use, left, rewritten
from fanlight.engine.plan.cost import constants as ours
from tests.helpers.house import ROOT

TEXT = constants.TABLE.read_text("utf-8")
MADE_UP = '''"""A table."""

# A row out.
READ = 60.0  # fitted
# A row in.
ROW = 30.0  # fitted
# A row looked at.
SEEN = 1_000.0  # estimated: page.md
# A row forgotten.
GONE = 5_000.0  # estimated: page.md
# A row copied.
COPY = 100.0  # fitted
'''


def test_constants_are_read_off_the_library():
    used = in_use()
    told = {name: value for name, value in vars(ours).items() if name.isupper()}
    assert {name: used[name] for name in told} == told
    assert all(isinstance(value, float) for value in told.values())
    assert used["READ + ROW"] == ours.READ + ours.ROW


def test_only_ratios_of_constants_count():
    used = {"A": 10.0, "B": 100.0, "C": 1.0, "D": 1.0}
    lines = compared({"A": 20.0, "B": 200.0, "C": 8.0, "D": -1.0, "E": 1.0}, used)
    assert [line[-1] for line in lines] == ["", "", "off", "lost in noise", "not in the library"]
    assert {len(line) for line in lines} == {len(HEADER)}


def test_what_was_measured_is_written_and_the_rest_stays():
    found = {"READ + ROW": 180.0, "SEEN": 6_000.0, "COPY": 200.0, "of no constant": 7.0}
    text = rewritten(MADE_UP, found)
    assert text.splitlines() == [
        '"""A table."""',
        "",
        "# A row out.",
        "READ = 60.0  # fitted",
        "# A row in.",
        "ROW = 30.0  # fitted",
        "# A row looked at.",
        "SEEN = 3_000.0  # fitted",
        "# A row forgotten.",
        "GONE = 5_000.0  # estimated: page.md",
        "# A row copied.",
        "COPY = 100.0  # fitted",
    ]
    assert left(found, in_use(MADE_UP)) == ["GONE"]


@pytest.mark.parametrize("lost", [-3.0, 0.0, float("nan"), float("inf")])
def test_what_is_lost_in_noise_is_not_written(lost):
    found = {"READ + ROW": 180.0, "COPY": lost, "SEEN": lost}
    assert rewritten(MADE_UP, found) == MADE_UP
    assert left(found, in_use(MADE_UP)) == ["SEEN", "GONE", "COPY"]
    assert rewritten(MADE_UP, dict.fromkeys(found, lost)) == MADE_UP


def test_the_library_s_table_can_be_written(tmp_path, monkeypatch):
    table = tmp_path / "constants.py"
    table.write_text(TEXT, "utf-8")
    monkeypatch.setattr(constants, "TABLE", table)
    used = in_use()
    found = {name: 2.0 * value for name, value in used.items()} | {"SORTED": 1_234_567.0}
    constants.write(found)
    written = in_use(table.read_text("utf-8"))
    assert written.pop("SORTED") == 617_000.0
    assert "SORTED = 617_000.0  # fitted" in table.read_text("utf-8")
    three_digits = {name: float(f"{value:.3g}") for name, value in used.items()}
    assert written == pytest.approx({name: three_digits[name] for name in written})


def test_the_command_writes_where_it_is_asked_to(tmp_path, monkeypatch):
    table = tmp_path / "constants.py"
    table.write_text(MADE_UP, "utf-8")
    monkeypatch.setattr(constants, "TABLE", table)
    said = []
    found = {"COPY": 100.0, "READ + ROW": 90.0, "SEEN": 500.0}
    command.calibrated(found, said.append, kept=False)
    assert said == ["not measured: GONE"]
    assert table.read_text("utf-8") == MADE_UP
    command.calibrated(found, said.append, kept=True)
    assert said[-1] == "written: constants.py"
    assert in_use(table.read_text("utf-8"))["SEEN"] == 500.0


def test_little_data_is_not_written():
    told = CliRunner().invoke(command.main, ["--calibrate", "--smoke", "--write"])
    assert told.exit_code == 2
    assert "--smoke" in told.output


LINES = [line for line in TEXT.splitlines() if re.match(r"[A-Z_]+ = ", line)]


@pytest.mark.parametrize("line", LINES)
def test_each_constant_says_what_it_is_and_where_it_is_from(line):
    above = TEXT.splitlines()[TEXT.splitlines().index(line) - 1]
    assert re.fullmatch(r"# .+\.", above)
    told = re.fullmatch(
        r"[A-Z_]+ = [\d_]+\.\d+  # (fitted|measured: --only (\S+)|estimated: (\S+))", line
    )
    assert told
    assert told[2] is None or told[2] in command.CASES
    assert told[3] is None or (ROOT / told[3]).is_file()
