"""Measures in each row of a match, as SQL over the rows listed: functions over Spark's windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fanlight.engine.algebra.aggregate import ARGUMENTS, Partials
from fanlight.engine.algebra.sql_text import fill, find_places, literal


@dataclass(frozen=True)
class RowsOfMatch:
    """The rows of a match: ``match`` are the columns that tell it, ``order`` those of its rows.

    Of the rows that a measure is of, ``final`` means all of a match, else those up to the row.
    """

    match: Sequence[str]
    order: Sequence[str]

    def place(self, name: str, value: str, where: str, offset: int, *, final: bool) -> str:
        """SQL of a value in the first or last row for which ``where`` holds, or some rows on."""
        over = self._over(final=final)
        row = f"if({where}, named_struct('v', {value}), null)"
        if name == "last" and offset:
            return f"get(reverse(collect_list({row}) {over}), {offset}).v"
        found = f"nth_value({row}, {offset + 1})" if name == "first" else f"last_value({row})"
        return f"({found} ignore nulls {over}).v"

    def number(self) -> str:
        """SQL of a row's number in its match, from 1."""
        return f"if({self.match[-1]} is null, null, row_number() {self._windows()})"

    def aggregate(
        self, partials: Partials, values: Sequence[str], kind: str, where: str, *, final: bool
    ) -> str:
        """SQL of an aggregate of the rows for which ``where`` holds. Empty if windows have none.

        ``kind`` is the type of the first of its ``values``. Windows of Spark's combine the partials
        of single rows, which distinct values and sketches do not have.
        """
        over = self._over(final=final)
        given = dict(zip(ARGUMENTS, values, strict=False))
        given |= {"order": f"struct({', '.join(self.order)})"}
        texts = {name: literal(text) for name, text in partials.strings.items()}
        texts["type"] = partials.kind or kind
        for name, monoid in partials.fields.items():
            if monoid.by_value or monoid.sketch_size or find_places(monoid.value) - given.keys():
                return ""
            value = f"if({where}, {fill(monoid.value, **given)}, null)"
            texts[name] = monoid.combine_all(monoid.unit(value), over)
        if find_places(partials.lower) - texts.keys():
            return ""
        return f"({fill(partials.lower, **texts)})"

    def _over(self, *, final: bool) -> str:
        last = "unbounded following" if final else "current row"
        return self._windows(f" rows between unbounded preceding and {last}")

    def _windows(self, frame: str = "") -> str:
        return (
            f"over (partition by {', '.join(self.match)} order by {', '.join(self.order)}{frame})"
        )
