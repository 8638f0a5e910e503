"""Frames over rows in order: marks, the stretches they make, and what is kept between batches."""
