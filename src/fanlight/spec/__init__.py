"""What is asked: windows, time and units, errors. Knows nothing of Spark."""

from fanlight.spec import frames
from fanlight.spec.episode import Episode
from fanlight.spec.errors import FanlightError
from fanlight.spec.frames import *  # noqa: F403 - all schemes, as their room lists them
from fanlight.spec.granular import MultiGranular
from fanlight.spec.sliding import Sliding
from fanlight.spec.units import Rows, rows
from fanlight.spec.widening import ProgressiveWidening

__all__ = [
    "Episode",
    "FanlightError",
    "MultiGranular",
    "ProgressiveWidening",
    "Rows",
    "Sliding",
    "rows",
]
__all__ += frames.__all__
