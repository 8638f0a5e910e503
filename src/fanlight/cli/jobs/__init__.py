"""Job files: read, checked completely before Spark starts, and run."""
