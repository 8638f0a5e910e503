"""Which modules a check that imports them all leaves out, by the beginnings of their names."""

OTHER_EXTRAS = ("fanlight.cli", "fanlight.language", "fanlight.watching")  # need more than PySpark
OF_SPARK_4 = ("fanlight.io.replay", "fanlight.engine.spark.ordered.processor")
