"""Frames on Spark: batch and stream, bounds, rows, aggregates and filling."""
