"""The query language, run: a text to the DataFrame that it asks for."""
