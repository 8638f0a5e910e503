"""What is asked: windows, time and units, errors. Knows nothing of Spark."""

from fanlight.spec.errors import FanlightError
from fanlight.spec.granular import MultiGranular
from fanlight.spec.sliding import Sliding
from fanlight.spec.units import Rows, rows

__all__ = ["FanlightError", "MultiGranular", "Rows", "Sliding", "rows"]
