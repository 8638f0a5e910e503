"""Small drawings of what a spec asks for: data first, then SVG that a notebook shows."""
