"""What a page draws, unpacked as its script unpacks it."""

from __future__ import annotations

import base64
import gzip
import re


def figure_of(page: str, name: str = "figure-1") -> str:
    """The JSON of one of a page's figures."""
    packed = re.search(rf'id="{name}-data">(.*?)</script>', page)[1]
    return gzip.decompress(base64.b85decode(packed.translate(str.maketrans(".,/", "&<>")))).decode()
