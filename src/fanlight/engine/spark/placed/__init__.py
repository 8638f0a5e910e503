"""Time windows: native Spark SQL, batch and stream; no row goes through Python."""
