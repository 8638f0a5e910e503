"""Sketches: small drawings of the windows of a spec or plan, as data and then as SVG."""
