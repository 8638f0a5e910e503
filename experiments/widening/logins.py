"""Guessed passwords in an authentication log: GENERATED lines in OpenSSH's format."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

import fanlight as fl

BEGIN = 1_700_000_000
TRIES = 5  # failures in a row, then a success
LINE = (
    r"^(\\w{3} +\\d+ [\\d:]{8}) \\S+ sshd\\[\\d+\\]: "
    r"(Accepted|Failed) password for (?:invalid user )?(\\S+) from (\\S+) port \\d+ ssh2$"
)
USERS = ("user1", "user2", "user3", "user4", "user5")


def line(at, outcome, user, address, random):
    stamp = datetime.fromtimestamp(at, UTC).strftime("%b %e %H:%M:%S")
    process, port = random.integers(1000, 60_000, 2)
    what = f"{outcome} password for {user} from {address} port {port} ssh2"
    return f"{stamp} host sshd[{process}]: {what}"


def generated(days, people, paces, each, seed=3):
    """Lines in order of time, and the guessers: address -> (pace, time of the success)."""
    random = np.random.default_rng(seed)
    events, guessers = [], {}
    for number in range(people):
        address, user = f"10.1.{number // 250}.{number % 250}", USERS[number % len(USERS)]
        for at in np.sort(random.integers(0, days * 86_400, 12 * days)).tolist():
            slips = int(random.choice([0, 0, 0, 1, 2]))
            events += [(BEGIN + at - 5 * s, "Failed", user, address) for s in range(1, slips + 1)]
            events.append((BEGIN + at, "Accepted", user, address))
    for number, pace in enumerate(np.repeat(paces, each).tolist()):
        address = f"10.9.{number // 250}.{number % 250}"
        room = days * 86_400 - pace * (TRIES + 2)
        start = BEGIN + int(random.integers(0, room))
        places = [
            start + pace * step + int(random.integers(0, max(pace // 4, 1)))
            for step in range(TRIES + 1)
        ]
        events += [(at, "Failed", "root", address) for at in places[:-1]]
        events.append((places[-1], "Accepted", "root", address))
        guessers[address] = (pace, places[0], places[-1])
    events.sort()
    return [line(*event, random) for event in events], guessers


def parsed(spark, folder):
    """The lines of a text file as rows: ts, outcome, user, address. The year is not in the log."""
    lines = spark.read.text(folder)
    when = "concat('2023 ', regexp_replace(p1, ' +', ' '))"
    parts = [f"regexp_extract(value, '{LINE}', {i}) as p{i}" for i in range(1, 5)]
    return (
        lines.selectExpr(*parts)
        .filter("p1 <> ''")
        .selectExpr(
            f"to_timestamp({when}, 'yyyy MMM d HH:mm:ss') as ts",
            "p2 as outcome",
            "p3 as user",
            "p4 as address",
        )
    )


def guesses(rows):
    """The last failures before a success, with no other success between."""
    outcomes, times = rows["outcome"].to_pylist(), rows["ts"].to_pylist()
    for at, outcome in enumerate(outcomes):
        first = at - TRIES
        if outcome != "Accepted" or first < 0 or "Accepted" in outcomes[first:at]:
            continue
        yield {"user": rows["user"][at].as_py(), "started": times[first], "ended": times[at]}


def detected(rows):
    spec = fl.ProgressiveWidening("1 minute", max_duration="2 days", max_rows=20)
    return fl.over(rows, spec, time="ts", by="address").detect(
        guesses,
        "user string, started timestamp, ended timestamp",
        span=("started", "ended"),
    )


def judged(found, guessers):
    """(pace, guessers, found, mean duration, mean delay) by pace; and what was invented."""
    hits = {row["address"]: row for row in found}
    invented = [address for address in hits if address not in guessers]
    table = []
    for pace in sorted({pace for pace, *_ in guessers.values()}):
        mine = {a: one for a, one in guessers.items() if one[0] == pace}
        seen = [(one, hits[a]) for a, one in mine.items() if a in hits]
        table.append(
            {
                "pace": pace,
                "guessers": len(mine),
                "found": len(seen),
                "duration": float(np.mean([last - first for _, first, last in mine.values()])),
                "delay": float(np.mean([hit["found"] - one[2] for one, hit in seen]))
                if seen
                else float("nan"),
            }
        )
    return table, invented, len(found) - len(hits)
