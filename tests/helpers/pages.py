"""Pages as text: their links, and what of them is not code."""

from __future__ import annotations

import re

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")


def prose(text: str) -> str:
    """A page without its code, which may have brackets of its own."""
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
