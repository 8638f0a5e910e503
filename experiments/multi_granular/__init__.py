"""Figures 5 to 8 of Patroumpas and Sellis, *Multi-granular Time-based Sliding Windows*, here.

`claim.md` says what the paper shows and what we find; `results.md` is what the last full run wrote.
"""
