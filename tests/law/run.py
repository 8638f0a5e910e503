"""The one runner: an ask's answer, in a batch or a stream, on any session."""

from __future__ import annotations

import threading
import uuid
from functools import partial
from time import monotonic

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.spark.sql import expr
from tests.helpers.aggregates import call
from tests.helpers.dataframes import SENTINEL, calls, collected, frame, readable
from tests.helpers.events import examples, splits
from tests.helpers.sparks import DEFAULT, PROVIDER, ROCKSDB, VERSION
from tests.helpers.streams import gather, patiently, source, stored, write_files
from tests.helpers.widened import by_span, by_value
from tests.law.ask import microseconds
from tests.oracle.carried import CARRIED

TO_WRITE = f"spark.conf.set({PROVIDER!r}, {ROCKSDB!r})"  # says the error of one that needs it
# What Spark itself does not take over into a new session.
NOT_TAKEN_OVER = ("spark.sql.session.timeZone", "spark.sql.shuffle.partitions")
KNOWN = ("seq", "n", "v")  # columns that tell rows apart
ONE_TASK = ("spark.sql.shuffle.partitions", "1")  # a sample of each kind runs in several


def query(ask, df):
    """The library's answer, as a DataFrame."""
    windowed = over(ask, renamed(df, ask.names))
    if ask.strategy != "auto" or ask.hints:
        windowed = windowed.using(ask.strategy, **ask.hints)
    plain = {called: name for name, called in ask.names.items()}
    found = renamed(ACTIONS[ask.action](ask, windowed), plain)
    return _told(ask, found) if ask.late == "collect" else found


def _told(ask, found):
    """Late rows by their numbers, and by the ends of the windows that they missed."""
    own = {"late": "late.row.seq as late", "window": "struct(window.start, window.end) as window"}
    names = [own.get(name, quote(name)) for name in found.columns]
    missed = "sort_array(transform(late.windows, one -> unix_micros(one.end))) as missed"
    return found.selectExpr(*names, *([missed] if ask.is_placed else []))


def renamed(df, names):
    return df.toDF(*[names.get(name, name) for name in df.columns]) if names else df


def over(ask, df):
    """The windows, of columns that may be called otherwise."""
    called = partial(_called, ask.names)
    how = {"by": called(ask.by), "tiebreak": called(ask.tiebreak), "late": ask.late}
    how["forget_after"] = ask.forget_after
    pair = isinstance(ask.time, tuple)
    return fl.over(df, ask.spec, time=tuple(called(ask.time)) if pair else called(ask.time), **how)


def _called(names, given):
    if isinstance(given, str):
        return names.get(given, given)
    return [names.get(one, one) for one in given]


def _agg(ask, windowed):
    asked = calls(ask.requests)
    return windowed.agg(**{ask.names.get(name, name): call for name, call in asked.items()})


def _carried(ask, windowed):
    """Aggregates of readings that are carried into windows, and all others as they are."""
    named = {}
    for name, request in ask.requests.items():
        made = call(request)
        if request[0] in CARRIED:
            made = getattr(agg, request[0])(*made.columns, carry=ask.options["carry"])
        named[ask.names.get(name, name)] = made
    return windowed.agg(**named)


def _early(ask, windowed):
    """The final ones of those that are given early."""
    return _agg(ask, windowed.early()).filter("coalesce(final, true)").drop("final")


def _pieces(ask, windowed):
    """Of the pieces, when the rows are gone."""
    asked = calls(ask.requests)
    named = {ask.names.get(name, name): call for name, call in asked.items()}
    return fl.roll_up(windowed.pieces(**named), ask.spec)


def _repaired(ask, windowed):
    """Of the pieces of some rows, and then of those that came too late, a part after the other."""
    asked = calls(ask.requests)
    named = {ask.names.get(name, name): call for name, call in asked.items()}
    df = windowed._bound.df
    parts = [
        over(ask, df.where(f"pmod(xxhash64({', '.join(map(quote, df.columns))}), 4) {which}"))
        .using(ask.strategy, **ask.hints).pieces(**named)
        for which in ("< 2", "= 2", "= 3")
    ]  # fmt: skip
    stored = parts[0]
    found = fl.roll_up(stored, ask.spec)
    for late in parts[1:]:
        repaired = fl.roll_up_late(stored, late, ask.spec, found)
        found = upserted(found, repaired, _called(ask.names, ask.by))
        stored = stored.unionByName(late)
    return found


def upserted(stored, rows, by):
    """The table in which these rows have replaced those of the same key and window."""
    frames = "frame_id" in by  # a frame keeps its number, and may end elsewhere
    told = () if frames else ("window", "level", "query")
    names = [*by, *(name for name in told if name in stored.columns)]
    keys = rows.select(names).toDF(*(f"late_{name}" for name in names))
    same = " and ".join(f"{quote(name)} <=> {quote(f'late_{name}')}" for name in names)
    return stored.join(keys, expr(stored, same), "left_anti").unionByName(
        rows, allowMissingColumns=True
    )


def _frames_repaired(ask, windowed):
    """Of some rows, and then of those that came too late."""
    asked = calls(ask.requests)
    named = {ask.names.get(name, name): call for name, call in asked.items()}
    df = windowed._bound.df
    rows, late = (
        df.where(f"pmod(xxhash64({', '.join(map(quote, df.columns))}), 4) {which}")
        for which in ("> 0", "= 0")
    )
    windows = over(ask, rows).using(ask.strategy, **ask.hints)
    stored = windows.agg(**named).persist()  # as a table is
    repaired = windows.repair(late, stored, **named)
    by = [*_called(ask.names, ask.by), "frame_id"]
    return upserted(stored, repaired, by).where("not coalesce(gone, false)").drop("gone")


def _frames(ask, windowed):
    del ask
    return windowed.frames()


def _rows(ask, windowed):
    names = [quote(name) for name in _called(ask.names, ask.by)]
    time = quote(_called(ask.names, ask.time))
    also = ["classifier"] if isinstance(ask.spec, fl.PatternFrame) else []
    return windowed.rows().selectExpr(*names, f"unix_micros({time}) as at", "frame_id", *also)


def _fit(ask, windowed):
    how = {name: ask.options[name] for name in ("filled", "instant") if name in ask.options}
    return windowed.fit(ask.options["column"], **how)


def _recurring(ask, windowed):
    return windowed.recurring(ask.options["column"], counts=ask.options.get("counts", False))


def _detect(ask, windowed):
    """By value, or by the span of what is found."""
    across = ask.options.get("across_cuts", False)
    if not ask.options.get("span"):
        return plainly(windowed.detect(by_value, "what bigint", across_cuts=across))
    schema = "what bigint, began timestamp, ended timestamp"
    return plainly(
        windowed.detect(by_span, schema, span=("began", "ended"), columns=["ts", "n"]).drop(
            "began", "ended"
        )
    )


def plainly(df):
    """``found_at`` as a whole number, as ``window``."""
    if dict(df.dtypes)["found_at"] != "timestamp":
        return df
    return df.selectExpr(
        *("unix_micros(found_at) as found_at" if name == "found_at" else quote(name)
          for name in df.columns)
    )  # fmt: skip


def _attach(ask, windowed):
    return _named(ask, windowed, windowed.attach)


def _attach_at(ask, windowed):
    """The same rows ask once more, as another DataFrame."""
    time = _called(ask.names, ask.time)
    return _named(ask, windowed, windowed.at(windowed._bound.df, time=time).attach)


def _named(ask, windowed, attach):
    """What is asked of each row, known by these of its columns."""
    asked = calls(ask.requests)
    found = attach(**{ask.names.get(name, name): call for name, call in asked.items()})
    names = [quote(name) for name in _called(ask.names, [*ask.by, *KNOWN])]
    time = quote(_called(ask.names, ask.time))
    own = windowed._bound.df.columns
    results = [quote(name) for name in found.columns if name not in own]
    return found.selectExpr(*names, f"unix_micros({time}) as at", *results)


ACTIONS = {
    "attach": _attach,
    "attach_to": _attach_at,
    "agg": _agg,
    "carried": _carried,
    "early": _early,
    "pieces": _pieces,
    "repair": _repaired,
    "frames": _frames,
    "frames repaired": _frames_repaired,
    "rows": _rows,
    "fit": _fit,
    "recurring": _recurring,
    "detect": _detect,
}


class Runner:
    """Runs asks, each in a session set up for it; keeps the sessions, and the files of streams.

    ``makers`` make a session with a configuration, by name. ``on_rocksdb`` are the streams that
    were refused on the state store that Spark comes with, ``took`` the seconds of each ask.
    """

    def __init__(self, makers, folder):
        self.makers = dict(makers)
        self.made = {}
        self.on_rocksdb = set()
        self.took = {}
        self.folder = folder
        self.lock = threading.Lock()

    def run(self, ask):
        """The rows of the answer, as dicts; again where a Python worker was late, or killed."""
        begun = monotonic()
        found = patiently(lambda: self._run(ask))
        self.took[ask] = monotonic() - begun
        return found

    def _run(self, ask):
        if ask.streamed:
            return self.stream(ask)
        df = frame(self.session(ask), ask.data.rows)
        if ask.setting.repartition:
            df = df.repartition(ask.setting.repartition)
        return collected(query(ask, df))

    def session(self, ask, *more):
        """The session of this setting: of the same Spark, with a configuration of its own."""
        conf = (*more, *ask.setting.conf)
        with self.lock:
            if (ask.session, conf) not in self.made:
                self.made[ask.session, conf] = self.makers[ask.session](*conf)
            found = self.made[ask.session, conf]
        if VERSION < (4, 0):  # where a Column adds as the thread's session does, not as its own
            found._jvm.org.apache.spark.sql.SparkSession.setActiveSession(found._jsparkSession)
        return found

    def stream(self, ask):
        """The rows at the end of a stream over the ask's micro-batches."""
        folder = self.folder / uuid.uuid4().hex
        starts = list(pieces(ask))
        for start in starts:
            result = self.streamed(ask, write_files(folder / "in", *start))
            if len(starts) == 1:
                rows = gather(result, folder, mode_of(ask))
            else:
                rows = collected(stored(result, folder, mode_of(ask)))
        return [row for row in rows if row.get("case") != SENTINEL["case"]]

    def streamed(self, ask, inbox):
        """The stream's result, on the state store that Spark comes with unless that is refused."""
        try:
            return self.streamed_on(DEFAULT, ask, inbox)
        except fl.FanlightError as error:
            if TO_WRITE not in str(error):
                raise
            self.on_rocksdb.add(ask)
            return self.streamed_on(ROCKSDB, ask, inbox)

    def streamed_on(self, store, ask, inbox):
        session = self.session(ask, (PROVIDER, store), ONE_TASK)
        return readable(query(ask, source(session, inbox, ask.arrivals.delay)))


def beside(session, *conf):
    """Another session of the same Spark, set up as this one but for ``conf``."""
    made = session.newSession()
    kept = [(name, session.conf.get(name)) for name in NOT_TAKEN_OVER]
    for name, value in (*kept, *conf):
        made.conf.set(name, value)
    return made


def micro_batches(ask):
    """The ask's rows, split."""
    if ask.arrivals.pieces is not None:
        return [list(piece) for piece in ask.arrivals.pieces]
    late = microseconds(ask.arrivals.late or ask.arrivals.delay)
    which = ask.arrivals.which
    found = examples(splits(ask.data.rows, late), which + 1)[which]
    assert sum(map(len, found)) == len(ask.data.rows)
    return [[row] for rows in found for row in rows] if ask.arrivals.alone else found


def pieces(ask):
    """The micro-batches of each start of the query."""
    last = {**SENTINEL, "ts": ask.arrivals.closed, "began": ask.arrivals.closed}
    found = [*micro_batches(ask), [last]]
    if ask.arrivals.restarts == "each":
        return [[rows] for rows in found if rows]
    half = len(found) // 2 if ask.arrivals.restarts == "half" else 0
    return [part for part in (found[:half], found[half:]) if part]


def mode_of(ask):
    """The output mode: windows that are given early need "update" before Spark 4.0."""
    return "update" if ask.action == "early" and VERSION < (4, 0) else "append"
