"""Spark's Python workers load PySpark as compiled: from its folder, not from the zip of sources."""

import sys

sys.path[:] = [entry for entry in sys.path if not entry.endswith(".zip") or "pyspark" not in entry]
