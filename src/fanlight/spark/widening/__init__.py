"""Progressive widening on Spark: rows into windows, windows searched in parallel."""
