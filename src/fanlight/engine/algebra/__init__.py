"""Monoids, aggregates made of them, and the library. Knows SQL text, not Spark."""
