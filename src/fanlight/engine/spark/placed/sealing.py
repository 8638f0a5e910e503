"""Seals the state of Spark's own aggregations, so that a changed query cannot go on from it.

With a state Spark keeps the types of its keys, and refuses a query whose keys have others. What a
key or a sum means, it does not compare: a maximum would go on from sums. So a stream is grouped by
one more key, which is null in every row: its type is the query's fingerprint, with the number of
the format. The name says which release wrote the state; Spark compares no names, and shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from fanlight.engine.algebra.sql_text import literal
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.coordinates import exact
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import fingerprint
from fanlight.engine.spark.sql import expr
from fanlight.engine.spec.formats import RELEASE

FORMAT = 1  # counted up whenever the same query keeps other partials, or the same ones otherwise
_PARTS = 4  # of 189 types each: two fingerprints have one type once in 1.3 thousand million times
_MOST = 18  # digits of a decimal that is a long


def name_of(format_: int, release: str) -> str:
    """The seal's name, which Spark's error shows of both queries."""
    return (
        f"state of format {format_} by fanlight {release}: "
        "another query needs another checkpointLocation, another format the release that wrote it"
    )


SEAL = name_of(FORMAT, RELEASE)


def seal(bound: Placed, fields: Fields, chosen: Candidate[Pieces], **more: Any) -> Placed:
    """The request with the seal as its last key; unchanged for a batch.

    ``more`` is what else the state depends on. Results have the keys of ``bound``, and so are
    without the seal.
    """
    if not bound.df.isStreaming:
        return bound
    fields.check_comparable(by_value=True)  # Spark's state store refuses such keys
    asked = fingerprint(chosen.name, bound, {}, fields, late=bound.late, **more)
    never = f"{exact(bound.coordinate, bound.time_sql)} = -9223372036854775808L"
    # Spark's error shows the names of the fields.
    named = zip((SEAL, *map(str, range(1, _PARTS))), _key_types(asked), strict=True)
    parts = ", ".join(f"{literal(name)}, cast(0 as {kind})" for name, kind in named)
    # Not simply null: Spark leaves out keys that are constants.
    seal = expr(bound.rows, f"if({never}, named_struct({parts}), null)")
    return bound.with_source(by=(*bound.by, seal), names=(*bound.names, SEAL))


def _key_types(asked: Mapping[str, str]) -> list[str]:
    """The decimal types that a fingerprint picks."""
    topics = (f"{about}: {asked[about]}" for about in sorted(asked))
    told = "\n".join([f"format: {FORMAT}", *topics])
    number = int.from_bytes(sha256(told.encode()).digest(), "big")
    kinds = []
    every = [(digits, scale) for digits in range(1, _MOST + 1) for scale in range(digits + 1)]
    for _ in range(_PARTS):
        number, place = divmod(number, len(every))
        digits, scale = every[place]
        kinds.append(f"decimal({digits}, {scale})")
    return kinds
