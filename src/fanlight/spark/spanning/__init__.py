"""Sliding windows over events that last, on Spark: batch and stream."""
