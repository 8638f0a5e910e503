"""Results written by key into Delta, SQLite and PostgreSQL; rows of the same key are replaced."""
