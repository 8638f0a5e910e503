"""Requests bound to columns: checked against the DataFrame before anything is planned."""
