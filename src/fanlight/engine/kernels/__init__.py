"""Loops over arrays: numpy and numba, nothing else. Compiled at the first call, not at import."""
