"""Operators: the running state of one group of keys, without Spark."""
