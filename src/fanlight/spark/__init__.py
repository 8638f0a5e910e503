"""Doing it on Spark: the only room that imports pyspark."""
