"""Job files: read, checked whole before Spark starts, and carried out."""
