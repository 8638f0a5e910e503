"""Requests bound to columns: what was asked, checked against the DataFrame before a plan."""
