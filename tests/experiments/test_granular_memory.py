"""What Figure 8 says of memory is what the loops allocate, seen by running them in Python."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from experiments.multi_granular import chain, chain_states, figures

NONE = np.zeros(0)


class Places(np.ndarray):
    """Integers whose copies and sums are counted with the arrays."""

    def copy(self, order="C"):
        return self.counted(super().copy(order))

    def __radd__(self, other):
        return self.counted(super().__radd__(other))

    def __add__(self, other):
        return self.counted(super().__add__(other))

    def counted(self, made):
        self.ledger.append(made.nbytes)
        return np.asarray(made)


def bytes_of(loop, module, monkeypatch, levels, *values):
    """All that a run over no rows allocates: its answers are empty, its nodes are not."""
    ledger = []

    def counting(make):
        def made(*given):
            array = make(*given)
            ledger.append(array.nbytes)
            return array

        return made

    numbers = []
    for given in (levels.paces, levels.room, levels.first):
        one = given.view(Places)
        one.ledger = ledger
        numbers.append(one)
    named = {name: counting(getattr(np, name)) for name in ("zeros", "empty", "full")}
    seen = {name: getattr(np, name) for name in ("cumsum", "uint64", "isfinite", "nan")}
    monkeypatch.setattr(module, "np", SimpleNamespace(**seen, **named))
    loop(numbers, *values)
    monkeypatch.undo()
    return sum(ledger)


@pytest.mark.parametrize("count", figures.BY_COUNT)
def test_bytes_of_the_nodes(count, monkeypatch):
    levels = chain.stairs(*figures.BY_COUNT[count])

    def summed(numbers):
        chain._chain(NONE, *numbers, np.zeros(1), chain.SUM)

    def fitted(numbers):
        chain_states._fitted.__wrapped__(NONE, *numbers, levels.spans)

    def recurring(numbers, items):
        sets = np.zeros((0, -(-items // 64)), np.uint64)
        chain_states._recurring.__wrapped__(sets, *numbers)

    assert bytes_of(summed, chain, monkeypatch, levels) == chain.allocated(levels)
    assert bytes_of(fitted, chain_states, monkeypatch, levels) == chain_states.fitted_bytes(levels)
    for items in figures.ITEMS:
        told = chain_states.recurring_bytes(levels, items)
        assert bytes_of(recurring, chain_states, monkeypatch, levels, items) == told


def test_items_gathered_from_records():
    item = np.random.default_rng(3).integers(0, 64, 700)
    found = chain_states.gathered(item, 7)
    assert found.shape == (100, 1)
    expected = [sum(1 << n for n in set(item[i : i + 7].tolist())) for i in range(0, 700, 7)]
    assert [int(word) for word in found[:, 0]] == expected
