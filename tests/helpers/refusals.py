"""What is refused, and what the error says."""

from __future__ import annotations

import pytest

import fanlight as fl


def refused(make, *said):
    """Assert that ``make`` is refused by an error with all these texts, and what to do instead."""
    with pytest.raises(fl.FanlightError) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert all(text in str(caught.value) for text in (*said, ";")), str(caught.value)
