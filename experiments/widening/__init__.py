"""Tolpin, *Progressive Temporal Window Widening*: Figures 5 and 6, and a log of logins.

Run ``python -m experiments.widening``; the result is told in ``claim.md``.
"""
