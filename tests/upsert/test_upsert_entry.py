"""What is asked of an upsert, before there is a row."""

from __future__ import annotations

import pickle

import pytest

import fanlight as fl

RIGHT = {"to": "sqlite:///busy.db", "table": "busy", "key": ["k", "window"]}
WRONG = [
    ({"to": "mysql://host/base"}, "not a database that fanlight writes to"),
    ({"to": "sqlite://busy.db"}, "not a database that fanlight writes to"),
    ({"to": "sqlite:///"}, "not a database that fanlight writes to"),
    ({"to": "delta:"}, "not a database that fanlight writes to"),
    ({"to": 3}, "not text"),
    ({"table": None}, "lacks the name of the table"),
    ({"table": 3}, "not text"),
    ({"to": "delta:/lake"}, "a Delta folder is itself one table"),
    ({"to": "delta", "stream": "one"}, "Spark's connector"),
    ({"stream": 3}, "not text"),
    ({"key": []}, "names no column"),
    ({"key": ["k", "k"]}, "one twice"),
    ({"key": 3}, "not a list of names"),
]


@pytest.mark.parametrize(("more", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_does_not_go_together_is_refused(more, said):
    with pytest.raises(fl.FanlightError, match=said):
        fl.upsert(**{**RIGHT, **more})


def test_a_wrong_address_shows_no_password():
    with pytest.raises(fl.FanlightError) as raised:
        fl.upsert("mysql://me:secret@host/base", table="busy", key="k")
    assert "secret" not in str(raised.value)


def test_a_writer_shows_how_it_was_made_and_goes_to_a_server():
    made = fl.upsert("postgresql://me:secret@host/base", table="busy", key="k", stream="one")
    shown = "upsert('postgresql://me:***@host/base', table='busy', key=['k'], stream='one')"
    assert repr(made) == shown
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301
    assert isinstance(made, fl.Upsert)
