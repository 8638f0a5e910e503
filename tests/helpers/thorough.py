"""The one switch of the tests: by a sample, or thoroughly.

Thorough are the tests that are marked so, and then properties are shown all examples, others in
each run. ``THOROUGH=1`` in the environment asks for it, as ``make law`` does.
"""

from __future__ import annotations

import os

THOROUGH = os.environ.get("THOROUGH", "") not in ("", "0")
