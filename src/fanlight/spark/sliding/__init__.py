"""Sliding windows on Spark: batch and stream, over time, numbers and rows."""
