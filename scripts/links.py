"""Makes the links of README.md lead somewhere on a package index, too.

    python -m scripts.links https://example.org/fanlight/blob/v0.1.0

writes README.md anew: a link to a file is then one to that file below the address. It is for a
release alone; the page in the repository keeps its own.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
TO_A_FILE = re.compile(r"\]\((?![\w+.-]+:|#)([^)\s]+)\)")


def absolute(text: str, address: str) -> str:
    """A page whose links to files are links below an address; code stays as it is."""
    parts = CODE.split(text)
    parts[::2] = [TO_A_FILE.sub(rf"]({address.rstrip('/')}/\1)", part) for part in parts[::2]]
    return "".join(parts)


if __name__ == "__main__":
    README.write_text(absolute(README.read_text("utf-8"), sys.argv[1]), "utf-8")
