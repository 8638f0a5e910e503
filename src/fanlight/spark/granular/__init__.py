"""Several windows over one stream, on Spark: levels of granularity, and sets of queries."""
