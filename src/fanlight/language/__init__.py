"""The query language: SQL text to specs and back, without Spark."""
