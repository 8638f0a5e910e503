"""How time is cut and which technique does it: from spec to plan, as data."""
