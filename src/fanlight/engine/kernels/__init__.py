"""Kernels: loops over arrays in numpy and numba only, compiled at the first call, not at import."""
