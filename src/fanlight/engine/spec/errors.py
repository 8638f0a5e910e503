"""The one error type of the library."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from itertools import product
from typing import Any, TypeVar, cast

Called = TypeVar("Called", bound=Callable[..., Any])
MOST_LISTED = 10
_PLAIN = (str, bool, int, float, type(None))
_LAST = 100  # the rank of a name that only looks alike
# How Python shows where an object is: of no use in a message.
_ADDRESS = re.compile(r"<(?:built-in )?(?:\w+ )?([\w.<>]+)(?: object)? at 0x[0-9a-f]+>")

# What pandas, Polars, Flink, Beam, Kafka Streams and Spark call an argument, by its name here.
_ELSEWHERE_CALLED = {
    "range": "size window window_size window_length window_duration length width duration freq "
             "interval max_size period every",
    "slide": "step step_size hop hop_size advance advance_by slide_by slide_duration stride every "
             "period",
    "gap": "gap_size gap_duration timeout inactivity inactivity_gap session_gap size",
    "max_duration": "longest max_length max_session_length",
    "offset": "start start_time origin base",
    "closed": "inclusive",
    "zone": "tz timezone time_zone",
    "week_starts": "week_start start_by start_day",
    "time": "on time_col time_column timestamp ts index index_column event_time rowtime order_by "
            "sort_by order sort",
    "by": "key keys key_by group group_by partition partition_by",
    "tiebreak": "order order_by sort sort_by",
    "forget_after": "ttl retention",
    "percentage": "q p quantile percent",
    "ignorenulls": "skipna skip_nulls ignore_nulls",
    "count": "n size",
}  # fmt: skip
_WATERMARK = "df.withWatermark('ts', '5 minutes'), before fl.over"
_LEAST = "n=agg.count() beside the others and .where('n >= 3') after them"
# What others say by an argument that has no counterpart here, and what to write instead: of one
# function (``count.distinct``), or of any. Another aggregate gets the arguments that it does have.
_ELSEWHERE_SAID = {
    "count.distinct": "agg.count_distinct",
    "label": "window.start or window.end of the result, which has both",
    "center": "fl.over(df, fl.Trailing('1 hour'), …).at(df.withColumn('ts', "
              "F.expr('ts + interval 30 minutes')), time='ts').attach(…) for the hour around each "
              "row of a batch",
    **dict.fromkeys(("minperiods", "minsamples"), _LEAST),
    **dict.fromkeys(
        ("over.delay", "watermark", "lateness", "allowedlateness", "grace", "graceperiod"),
        _WATERMARK,
    ),
}  # fmt: skip
# How public callables are called, and their arguments: shown where another is given one of these.
_OVER = "fl.over(df, fl.Sliding('1 hour', '1 minute'), time='ts', by='key')"
_EXAMPLES = {_OVER: {"time", "by", "tiebreak", "late", "forget_after"}}

# How an error of Python stands in Spark's messages: after its traceback, which is indented deeper;
# without one, where Python does not get as far; or where there is no such program.
_PYTHON_ERRORS = (
    re.compile(
        r"^([ \t]*)(?:\S.*)?Traceback \(most recent call last\):\n"
        r"(?:(?:\1[ \t].*|[ \t]*)\n)*\1(?P<error>\S.*)",
        re.MULTILINE,
    ),
    re.compile(r"Error from python worker:\n[ \t]*(?P<error>\S.*)"),
    re.compile(r"(?P<error>Cannot run program .*)"),
)


class FanlightError(ValueError):
    """Raised for every request that fanlight cannot carry out.

    The message says what was asked, why it cannot be, and what to write instead. It is raised as
    early as possible: when the spec is made, or when ``over`` or a terminal method is called; never
    while Spark runs.

    >>> import fanlight as fl
    >>> fl.Sliding("4 minutes", "0 minutes")
    Traceback (most recent call last):
    ...
    fanlight.FanlightError: slide='0 minutes' must be positive; write for example \
slide='1 minute'
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(_ADDRESS.sub(r"\1", str(message)))


FanlightError.__module__ = "fanlight"  # the name that users know, in every traceback


class MissingError(FanlightError, AttributeError):
    """Raised for an attribute that does not exist; an AttributeError, so ``hasattr`` is False."""


class MissingPackageError(FanlightError, ModuleNotFoundError):
    """Raised for windows that need a package that is not installed."""


class CallError(FanlightError, TypeError):
    """Raised for a call with arguments that the function does not take."""


def refuse(asked: str, why: str, instead: str) -> FanlightError:
    """Make an error of three parts: the request, why it is refused, what to write instead."""
    return FanlightError(f"{asked} {why}; {instead}")


def find_python_error(message: str) -> str | None:
    """The error of a Python worker that Spark's message quotes, in one line; None if none is.

    >>> find_python_error('IOException: Cannot run program "python3": error=2')
    'Cannot run program "python3": error=2'
    """
    for pattern in _PYTHON_ERRORS:
        found = [match["error"].strip() for match in pattern.finditer(message)]
        if found:
            return found[-1]
    return None


def is_column(given: object) -> bool:
    """Whether something is a Column of Spark's, of either kind of session."""
    return hasattr(type(given), "isNotNull")


def show(given: object) -> str:
    """A value as one would write it; of a Column its expression."""
    if is_column(given):
        return str(given).removeprefix("Column<'").removesuffix("'>")
    return _ADDRESS.sub(r"\1", repr(given))


def describe_type(given: object) -> str:
    """The type of a value with its article.

    >>> describe_type(3), describe_type([])
    ('an int', 'a list')
    """
    name = type(given).__name__
    return f"{'an' if name[:1].lower() in 'aeio' else 'a'} {name}"


def shorten(text: str, room: int = 60) -> str:
    """A text of so many characters at most: a DataFrame shows all its columns."""
    return text if len(text) <= room else f"{text[: room - 1]}…"


_MOST_SHORT = 2  # letters that begin too many names


def guess(asked: str, known: Iterable[str], near: float = 0.6) -> str:
    """The known name that a wrong one probably means, or an empty text.

    >>> guess("Prise", ["time", "price"]), guess("volume", ["time", "price"])
    ('price', '')
    >>> guess("Sun", ["monday", "sunday"])
    'sunday'
    """
    spelled = {name.casefold(): name for name in reversed([*known])}
    begun = [name for name in spelled if name.startswith(asked.casefold())]
    if len(begun) == 1 and len(asked) > _MOST_SHORT:
        return spelled[begun[0]]
    found = get_close_matches(asked.casefold(), spelled, 1, near)
    return spelled[found[0]] if found else ""


def list_some(names: Collection[str]) -> str:
    """Ten names at most, and how many more there are.

    >>> list_some("ab"), list_some("abcdefghijkl")
    ('a, b', 'a, b, c, d, e, f, g, h, i, j and 2 more')
    """
    more = len(names) - MOST_LISTED
    listed = ", ".join([*names][:MOST_LISTED])
    return f"{listed} and {more} more" if more > 0 else listed


def advise_choice(asked: object, names: Collection[str], none: str = "there is none") -> str:
    """The advice to choose one of some names, the likeliest first; ``none`` if there are none.

    >>> advise_choice("prise", ["time", "price"])
    "did you mean 'price'? If not, choose one of time, price"
    """
    if not names:
        return none
    likely = guess(asked, names) if isinstance(asked, str) else ""
    listed = f"choose one of {list_some(names)}"
    return f"did you mean {likely!r}? If not, {listed}" if likely else listed


def explain_wrong_calls(
    example: str = "", together: str = "", each: str = ""
) -> Callable[[Called], Called]:
    """Decorate a function, a class or its ``__init__``: called wrongly, it shows ``example``.

    Without one, the arguments are shown. ``together`` is a function of Spark's that makes one
    column of too many, and ``each`` the call of one of them.
    """

    def decorate(function: Called) -> Called:
        if isinstance(function, type):
            function.__init__ = decorate(function.__init__)  # type: ignore[misc]
            return function
        signature = inspect.signature(function)
        kinds = {name: one.kind for name, one in signature.parameters.items()}
        named = inspect.Parameter.VAR_KEYWORD in kinds.values()
        if example.startswith("fl."):
            _EXAMPLES.setdefault(example, {*kinds})

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                shown = example or _show_arguments(signature, function.__name__, args, kwargs)
                most = sum(kind <= inspect.Parameter.VAR_POSITIONAL for kind in kinds.values())
                if not kwargs and len(args) > most:
                    if each:
                        option = _name_option(function, signature, args, most)
                        shown = option and f"{each}({option})"
                        shown = shown or _split_columns(each, together, args)
                    elif function.__name__ == "__init__":
                        shown = _name_arguments(function, signature, args, most, example) or shown
                raise _explain_call(function, signature, args, kwargs, error, shown) from None
            # Names are free where aggregates or tables are named, but no plain value is either.
            plain = (n for n, one in kwargs.items() if isinstance(one, _PLAIN) and n not in kinds)
            if named and any(guess(name, kinds) for name in plain):
                shown = example or _show_arguments(signature, function.__name__, args, kwargs)
                raise _explain_call(function, signature, args, kwargs, TypeError(), shown)
            return function(*args, **kwargs)

        return cast("Called", call)

    return decorate


def _explain_call(
    function: Callable[..., Any], signature: inspect.Signature, args: Sequence[Any],
    kwargs: dict[str, Any], error: TypeError, example: str,
) -> CallError:  # fmt: skip
    """The error for a call with arguments that a function does not take."""
    *_, owner, name = ("", *function.__qualname__.split("."))
    hidden = int(next(iter(signature.parameters), "") == "self")
    called = owner if name == "__init__" else name
    if hidden and name != "__init__":
        made = type(args[0]).__name__
        called = made if name == "__call__" else f"{made}.{name}"
    given = [shorten(repr(one)) for one in args[hidden:]]
    given += [f"{name}={shorten(repr(value))}" for name, value in kwargs.items()]
    unknown = [name for name in kwargs if name not in signature.parameters]
    if any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values()):
        unknown = [name for name in unknown if isinstance(kwargs[name], _PLAIN)]
    asked = f"{called}({', '.join(given)})"
    if not unknown:
        return CallError(f"{asked}: {error}; write {example}")
    known = (value for name, value in kwargs.items() if name not in unknown)
    right = [shorten(repr(one)) for one in (*args[hidden:], *known)]
    for name in unknown:
        plain = name.replace("_", "").casefold()
        said = _ELSEWHERE_SAID.get(f"{called}.{plain}") or _ELSEWHERE_SAID.get(plain)
        if said:
            other = f"{said}({', '.join(right) or repr('x')})"
            write = other if said.startswith("agg.") else f"{said}, and leave {name} out"
            return CallError(f"{asked}: there is no argument {name!r}; write {write}")
    bound = [*signature.bind_partial(*args[: len(signature.parameters)]).arguments, *kwargs]
    meant = _assign_names(unknown, signature, bound)
    parts = [f"{ours}=… instead of {name}=…" for name, ours in meant.items() if ours]
    write = f"{', '.join(parts)}, as in {example}" if parts else example
    for name in unknown if not parts and example.startswith("fl.") else ():
        names = [name, *(ours for ours in _ELSEWHERE_CALLED if _rank(ours, name))]
        homes = ((one, n) for n in names for one, known in _EXAMPLES.items() if n in known)
        if home := next(homes, None):
            write = f"{home[0]}, which has {home[1]}, or leave {name} out"
    return CallError(
        f"{asked}: there is no argument {' or '.join(map(repr, unknown))}; write {write}"
    )


def _assign_names(
    unknown: Sequence[str], signature: inspect.Signature, given: Collection[str]
) -> dict[str, str]:
    """The argument that each unknown one probably means, or an empty text."""
    free = [n for n, one in signature.parameters.items() if n not in given and n != "self"]
    needed = [n for n in free if signature.parameters[n].default in (inspect.Parameter.empty, ...)]
    return assign_names(unknown, free, needed)


def assign_names(
    unknown: Sequence[str], free: Sequence[str], needed: Collection[str] = ()
) -> dict[str, str]:
    """The name among those that are free that each unknown one probably means, or an empty text.

    >>> assign_names(["period", "every", "partition_by"], ["range", "slide", "late", "by"])
    {'period': 'range', 'every': 'slide', 'partition_by': 'by'}
    """
    ranked = []
    for name in unknown:
        ranks = {ours: _rank(ours, name) for ours in free}
        near = guess(name, free)
        likely = {ours: rank for ours, rank in ranks.items() if rank or ours == near}
        ranked.append({**likely, "": 0})

    def cost(ours: Iterable[str]) -> tuple[int, ...]:
        named = [one for one in ours if one]
        ranks = sum(ranks[one] or _LAST for ranks, one in zip(ranked, ours, strict=True))
        return len(named) - len({*named}), len({*needed} - {*named}), -len(named), ranks

    return dict(zip(unknown, min(product(*ranked), key=cost), strict=True))


def _rank(ours: str, name: str) -> int:
    """The place of a name, however it is spelled, among those of an argument elsewhere, or 0."""
    words = ["", *_ELSEWHERE_CALLED.get(ours, "").replace("_", "").split()]
    plain = name.replace("_", "").casefold()
    return words.index(plain) if plain in words else 0


def _show_arguments(
    signature: inspect.Signature, name: str, args: Sequence[Any] = (), kwargs: Any = ()
) -> str:
    """How a method of windows is called: its arguments as they were given, or their names."""
    given = {**dict(zip(signature.parameters, args, strict=False)), **dict(kwargs)}
    parts = []
    for one in [*signature.parameters.values()][1:]:
        value = shorten(repr(given[one.name])) if one.name in given else ""
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            parts += ["…"] if "…" not in parts else []
        elif one.kind is one.KEYWORD_ONLY:
            unsaid = "…" if one.default is one.empty else repr(one.default)
            parts += [f"{one.name}={value or unsaid}"]
        else:
            parts += [value or one.name]
    return f"windows.{name}({', '.join(parts)})"


def _name_arguments(
    function: Callable[..., Any], signature: inspect.Signature, args: Sequence[Any], most: int,
    example: str,
) -> str:  # fmt: skip
    """The call with surplus arguments given by name. Empty if a spec refuses them."""
    named = [n for n, one in signature.parameters.items() if one.kind is one.KEYWORD_ONLY]
    named.sort(key=lambda name: f" {name}=" not in example)  # the usual ones first
    more = dict(zip(named, args[most:], strict=False))
    try:
        function(object.__new__(type(args[0])), *args[1:most], **more)
    except (FanlightError, TypeError):
        return ""
    if len(args) - most > len(named) or not all(isinstance(one, _PLAIN) for one in args[1:]):
        return ""
    given = [*map(repr, args[1:most]), *(f"{name}={one!r}" for name, one in more.items())]
    return f"{example.partition('(')[0]}({', '.join(given)})"


def _name_option(
    function: Callable[..., Any], signature: inspect.Signature, args: Sequence[Any], most: int
) -> str:
    """The arguments of a call, with the surplus one by name if it is an option, not a column."""
    given, *more = args[most:]
    if more or not (isinstance(given, (bool, int, float)) or str(given)[:1].isdigit()):
        return ""
    for name, one in signature.parameters.items():
        if one.kind is one.KEYWORD_ONLY:
            try:
                function(*args[:most], **{name: given})
            except (FanlightError, TypeError):
                continue
            return ", ".join([*map(repr, args[:most]), f"{name}={given!r}"])
    return ""


def _split_columns(each: str, together: str, columns: Sequence[Any]) -> str:
    """The calls for each of several columns, and for all of them as one."""
    named = [*map(repr, columns)] if all(type(one) is str for one in columns) else ["'x'", "'y'"]
    if together:
        return f"{each}({together}({', '.join(named)}))"
    return ", ".join(f"{each}({one})" for one in named)
