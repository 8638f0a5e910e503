"""The pairs of docs/replace.md: what a reader has, and what fanlight gives, are the same rows."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.helpers.house import ROOT
from tests.helpers.streams import ended
from tests.spark.documents import START, examples, executed, run, start_of

PAGE = "docs/replace.md"


def rows(answer, folder):
    """The rows of a batch; of a stream, what it gives until its source is read."""
    if not answer.isStreaming:
        return Counter(answer.collect())
    return Counter(ended(answer, folder).collect())


@pytest.mark.usefixtures("page_session")
def test_each_pair_has_the_same_rows(tmp_path):
    names: dict = {"__name__": "__page__"}
    run(START, start_of((ROOT / START).read_text("utf-8")), names)
    text = (ROOT / PAGE).read_text("utf-8")
    pairs, wrong = 0, []
    for example in examples(text):
        executed(PAGE, example, names)
        if "ours" not in names:
            continue
        theirs, ours = names.pop("theirs"), names.pop("ours")
        pairs += 1
        if theirs.columns != ours.columns:
            wrong.append(f"line {example.line}: {theirs.columns} and {ours.columns}")
            continue
        wanted, found = rows(theirs, tmp_path), rows(ours, tmp_path)
        if not wanted or wanted != found:
            differ = [*list((wanted - found).items())[:3], "/", *list((found - wanted).items())[:3]]
            wrong.append(f"line {example.line}: {len(wanted)}, {len(found)} rows; {differ}")
    assert wrong == []
    assert pairs == text.count("\nours = ") > 0


def test_every_section_has_a_pair():
    text = (ROOT / PAGE).read_text("utf-8")
    for section in text.split("\n## ")[1:]:
        assert section.count("\ntheirs = ") == section.count("\nours = ") > 0, section[:40]
