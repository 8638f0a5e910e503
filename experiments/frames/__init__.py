"""Grossniklaus et al., *Frames*: the quality studies of section 4, the feasibility of section 6."""
