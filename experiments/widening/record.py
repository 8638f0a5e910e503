"""Record system calls of ordinary work with strace: ``python -m experiments.widening.record``.

Writes ``calls.csv.gz`` beside this file: name, first descriptor, returned number, and of an execve
the program's name. Paths, data and addresses are not kept.
"""

from __future__ import annotations

import csv
import gzip
import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
MOST = 20_000
WORK = """
for i in 1 2 3 4 5 6; do
  mkdir -p d$i; for j in 1 2 3 4 5 6 7 8; do echo "line $j" > d$i/f$j; done
  find . -name 'f*' | sort | head -5; grep -r line d$i | wc -l; tar cf d$i.tar d$i; gzip -f d$i.tar
  cat d$i/* | tr a-z A-Z > all$i; ls -lR . > /dev/null; rm -r d$i
done
python3 - <<'PY'
import http.server, threading, urllib.request
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for _ in range(200):
    urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/all1").read()
PY
"""
LINE = re.compile(r"^(\w+)\((.*)\)\s+=\s+(-?\d+)")
UNFINISHED, RESUMED = " <unfinished ...>", re.compile(r"^<\.\.\. \w+ resumed>(.*)")
PROGRAM = re.compile(r'^"(?:[^"]*/)?([^"/]+)"')
# Those whose first argument is a descriptor.
DESCRIPTORS = {
    *("read", "write", "close", "fstat", "lseek", "dup", "dup2", "dup3", "fcntl", "ioctl"),
    *("accept", "accept4", "bind", "listen", "getdents64", "sendto", "recvfrom", "shutdown"),
    *("setsockopt", "getsockname", "connect", "pread64", "openat", "newfstatat", "fchdir"),
}


def parsed(text):
    """(call, fd, returned, exe) of each whole line; accept4 is accept, dup2 and dup3 are dup."""
    open_calls = {}
    for line in text.splitlines():
        process, _, told = line.partition(" ")
        told = told.strip()
        if told.endswith(UNFINISHED):
            open_calls[process] = told.removesuffix(UNFINISHED)
            continue
        resumed = RESUMED.match(told)
        found = LINE.match(open_calls.pop(process, "") + resumed[1] if resumed else told)
        if found is None:
            continue
        name, arguments, returned = found.groups()
        first = arguments.split(",")[0]
        fd = first if name in DESCRIPTORS and first.isdigit() else ""
        program = PROGRAM.match(arguments) if name == "execve" else None
        plain = {"accept4": "accept", "dup2": "dup", "dup3": "dup"}.get(name, name)
        yield plain, fd, returned, program[1] if program else ""


def main():
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = ["strace", "-f", "-s", "64", "-o", str(log), "sh", "-c", WORK]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        rows = list(parsed(log.read_text("utf-8", "replace")))
    kept = rows[:MOST]
    with gzip.GzipFile(HERE / "calls.csv.gz", "wb", mtime=0) as packed:
        lines = ["call,fd,returned,exe", *(",".join(row) for row in kept)]
        packed.write(("\n".join(lines) + "\n").encode())
    print(f"{len(rows):,} calls recorded, {len(kept):,} kept")


def recorded():
    """The calls that were recorded, as dicts of columns."""
    with gzip.open(HERE / "calls.csv.gz", "rt", encoding="utf-8") as packed:
        rows = list(csv.DictReader(packed))
    return {
        "call": [row["call"] for row in rows],
        "fd": [int(row["fd"]) if row["fd"] else None for row in rows],
        "returned": [int(row["returned"]) for row in rows],
        "exe": [row["exe"] or None for row in rows],
    }


if __name__ == "__main__":
    main()
