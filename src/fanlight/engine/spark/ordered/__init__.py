"""Data-driven windows: one host of operators in a stream, one pass of Arrow in a batch."""
