"""Windows over events that last: the figures of Suzanne et al., with our technique in each."""
