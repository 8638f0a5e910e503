"""Files played back as a stream in event time, by a Python data source of Spark's."""
