"""All markers, by the kind of scheme that they apply."""

from __future__ import annotations

from fanlight.engine.operators.frames import marks, running

MARKERS: dict[str, type[marks.Marker]] = {
    "every": marks.Every,
    "flags": marks.Flags,
    "latches": marks.Latches,
    "dwell": marks.Dwell,
    "cells": marks.Cells,
    "states": marks.States,
    "deltas": running.Deltas,
    "limits": running.Limits,
    "distinct": running.Distinct,
    "calculated": running.Calculated,
    "logical": marks.Logical,
}
