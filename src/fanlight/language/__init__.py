"""The query language: texts to what is asked, and back. Knows no Spark."""
