"""Answers from stored pieces without Spark: ``fl.serve``."""
