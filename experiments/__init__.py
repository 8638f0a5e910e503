"""The papers' experiments, run again: one folder a paper."""
