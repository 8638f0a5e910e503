"""Windows that rows cut: one host for all of them in a stream, one way through Arrow in a batch."""
