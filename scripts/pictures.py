"""Writes the small drawings of the pages in docs, one for each kind of windows.

    python -m scripts.pictures

They are the drawings that a notebook shows of the same specs.
"""

from __future__ import annotations

from pathlib import Path

from fanlight.engine.kinds import list_kinds
from fanlight.engine.spec.pictures import Pictured
from fanlight.plots.sketches.artist import sketch_spec
from fanlight.plots.sketches.model import Lane, Mark, Sketch
from fanlight.plots.sketches.svg import to_svg

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
# Where a picture stands by itself, its text has the colour of its reader's system.
STYLE = "<style>svg{color:#24292f}@media (prefers-color-scheme:dark){svg{color:#dfe6ec}}</style>"
# What no spec alone shows: the windows that events are in, by the events' starts and stops.
EVENTS = {"call 1": (1, 4), "call 2": (7, 17), "call 3": (12, 22)}
SHARED = tuple(
    Mark(
        "window",
        at,
        at + 5,
        str(sum(start < at + 5 and stop > at for start, stop in EVENTS.values())),
    )
    for at in range(0, 25, 5)
)
FILES = {"granular": "multi_granular"}
SPANNING = Sketch(
    "Sliding('5 minutes') over events that last",
    (
        *(Lane(name, (Mark("piece", *event),)) for name, event in EVENTS.items()),
        Lane("windows", SHARED),
    ),
    tuple((at, "0" if not at else f"{at} minutes") for at in range(0, 30, 5)),
    "Each window counts every call that goes on in it.",
)
KINDS: dict[str, Pictured | Sketch] = {
    "spanning": SPANNING,
    **{FILES.get(kind.words.rule, kind.words.rule): kind.example for kind in list_kinds()},
}


def drawn(spec: Pictured | Sketch) -> str:
    """The drawing of a spec as a file."""
    shown = spec if isinstance(spec, Sketch) else sketch_spec(spec)
    head, _, rest = to_svg(shown).partition(">")
    return f"{head}>{STYLE}{rest}\n"


if __name__ == "__main__":
    for name, spec in KINDS.items():
        (IMAGES / f"{name}.svg").write_text(drawn(spec), "utf-8")
