"""Running a query: from its text to a DataFrame."""
