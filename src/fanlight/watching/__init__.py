"""A live page for a running stream, served on this machine alone (``fanlight[watch]``)."""
