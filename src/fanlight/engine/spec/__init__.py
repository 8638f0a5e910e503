"""What is asked: windows, time and units, errors. Knows nothing of Spark."""

from fanlight.engine.spec import frames
from fanlight.engine.spec.calendar import Calendar
from fanlight.engine.spec.cumulative import Cumulative
from fanlight.engine.spec.decay import decay
from fanlight.engine.spec.episode import Episode
from fanlight.engine.spec.errors import FanlightError
from fanlight.engine.spec.frames import *  # noqa: F403 - all schemes, as their room lists them
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.snapshot import Snapshot
from fanlight.engine.spec.trailing import Trailing
from fanlight.engine.spec.units import Rows
from fanlight.engine.spec.widening import ProgressiveWidening

__all__ = [
    "Calendar",
    "Cumulative",
    "Episode",
    "FanlightError",
    "MultiGranular",
    "ProgressiveWidening",
    "Rows",
    "Sliding",
    "Snapshot",
    "Trailing",
    "decay",
]
__all__ += frames.__all__
