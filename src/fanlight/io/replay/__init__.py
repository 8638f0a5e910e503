"""Files played back in event time, as a stream: Spark's Python data source around an index."""
