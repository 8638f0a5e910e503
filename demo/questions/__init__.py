"""The questions of the demo: one for each kind of window."""

from __future__ import annotations

from demo.questions import air, chains, levels, sliding, storms
from demo.questions.question import Question

QUESTIONS: tuple[Question, ...] = tuple(
    asked.QUESTION for asked in (sliding, levels, air, storms, chains)
)

__all__ = ["QUESTIONS", "Question"]
