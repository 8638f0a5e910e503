"""Figures of plotly: of results, and of how windows cut time."""
