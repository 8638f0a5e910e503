"""Errors of the query language: the word that is wrong, what is wrong with it, what to write."""

from __future__ import annotations

import re

import pytest

import fanlight as fl
from fanlight.language.query import Query
from tests.language.texts import WRONG, column


def read(text):
    query = Query(text)
    for one in query.selects:
        for item in one.items:
            for call in query.call_reader.find_calls(*item.place):
                query.call_reader.build(call, column)


def refused(text):
    with pytest.raises(fl.FanlightError) as raised:
        read(text)
    return str(raised.value)


@pytest.mark.parametrize(("marked", "words"), WRONG, ids=[text for text, _ in WRONG])
def test_errors_point_at_the_word(marked, words):
    before, part, after = marked.split("^")
    message, line, carets = refused(before + part + after).split("\n")
    assert message.startswith(f"line 1, column {len(before) + 1}: ")
    at = carets.index("^")
    width = carets.count("^")
    assert line[at : at + width] == part[: len(line) - at]
    assert re.search(words, message), message


def test_the_line_and_its_column_are_those_of_a_text_of_many_lines():
    said = refused("SELECT count(*)\n-- b\n\tFROM b [WATTR ts\n  RANGE 4 MINUTS]").split("\n")
    assert said[0].startswith("line 4, column 9: ")
    assert said[1:] == ["      RANGE 4 MINUTS]", "            ^^^^^^^^"]


def test_a_long_line_is_cut_to_what_is_around_the_word():
    _, line, carets = refused(f"SELECT {'x, ' * 100}1 FROM b [WATTR ts RANGE 4 MINUTS]").split("\n")
    assert len(line) < 120
    assert line[carets.index("^") :].startswith("4 MINUTS")
