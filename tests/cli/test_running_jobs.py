"""Job files about events that have not ended."""

from __future__ import annotations

import re

import pytest

from tests.cli.jobs import RIGHT, loaded, told

SPAN = RIGHT.replace('time = "ts"', 'time = ["ts", "stop"]').replace(
    'column = "ts"', 'column = "stop"'
)
SAID = 'running = { id = "call_id", max_duration = "6 hours" }'
RUNNING = SPAN.replace('by = ["antenna"]', f'by = ["antenna"]\n{SAID}')


def test_what_is_said_of_events_that_have_not_ended(tmp_path):
    assert loaded(tmp_path, RUNNING).query.options == {
        "running": {"id": "call_id", "max_duration": "6 hours"}
    }
    assert loaded(tmp_path, SPAN).query.options == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RUNNING.replace(SAID, 'running = "call_id"'), "is not a table such as { id ="),
        (RUNNING.replace("max_duration", "most"), "has no words after RUNNING; choose from as_of"),
        (RUNNING.replace("6 hours", "6 hous"), "unknown unit"),
        (RUNNING.replace('["ts", "stop"]', '"ts"'), 'write time = ["start", "stop"]'),
    ],
)
def test_what_cannot_be_is_told(tmp_path, text, said):
    line = next(line for line in told(tmp_path, text) if ": query.running: " in line)
    assert re.search(re.escape(said), line), line
