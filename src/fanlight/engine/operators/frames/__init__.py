"""Frames over rows in order: marks, the frames that they make, and the state between batches."""
