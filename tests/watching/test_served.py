"""Who may ask the server for what: this machine, by its own name, and only to read."""

from __future__ import annotations

import inspect
import re
import socket
import subprocess
import sys

import pytest

import fanlight as fl
from tests.helpers.hostile import VALUES, Good, wrong
from tests.watching.queries import Query, windows
from tests.watching.served import answer_to

pytest.importorskip("starlette")


@pytest.fixture(scope="module")
def served():
    with fl.watch(Query(), lambda: windows(3)) as found:
        yield found


def port_of(served):
    return int(served.url.rstrip("/").rpartition(":")[2])


@pytest.mark.parametrize("path", ["/", "/state", "/nothing"])
@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "FLY"]
)
def test_it_can_only_be_read(served, method, path):
    found = answer_to(served, path, method)
    assert found.status == 405
    assert found.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/", "/state"])
def test_head_is_get_without_what_is_there(served, path):
    found = answer_to(served, path, "HEAD")
    assert (found.status, found.text) == (200, "")
    assert int(found.headers["content-length"]) > 100


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST:{port}", 200),
        ("evil.example:{port}", 400),
        ("evil.example", 400),
        ("127.0.0.1.evil.example:{port}", 400),
        ("localhost.evil.example", 400),
        ("evil.example@127.0.0.1:{port}", 400),
        ("0.0.0.0:{port}", 400),
        ("169.254.169.254", 400),
        ("", 400),
    ],
)
def test_a_name_that_was_made_to_lead_here_is_refused(served, host, status):
    for path in ("/", "/state"):
        found = answer_to(served, path, headers={"Host": host.format(port=port_of(served))})
        assert found.status == status
        assert ("micro-batch" in found.text) is (status == 200)


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
        "/state/../../etc/passwd", "/static/x.js", "/state/", "/index.html", "/\\..\\etc",
        "http://evil.example/",
    ],
)  # fmt: skip
def test_there_is_nothing_but_two_addresses(served, path):
    found = answer_to(served, path)
    assert found.status in (400, 404)
    assert "root:" not in found.text
    assert "location" not in found.headers or "evil" not in found.headers["location"]


@pytest.mark.parametrize(
    ("path", "method", "headers"),
    [
        ("/", "GET", {}),
        ("/state", "GET", {}),
        ("/nothing", "GET", {}),
        ("/", "POST", {}),
        ("/", "GET", {"Host": "evil.example"}),
    ],
)
def test_every_answer_has_the_headers(served, path, method, headers):
    found = answer_to(served, path, method, headers).headers
    assert found["cache-control"] == "no-store"
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "no-referrer"
    assert found["x-frame-options"] == "DENY"
    assert found["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in found
    assert "server" not in found
    policy = dict(one.strip().split(" ", 1) for one in found["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert "unsafe" not in policy["script-src"]
    assert not re.search(r"https?:|\*", found["content-security-policy"])


def test_only_the_page_s_own_scripts_run_and_each_page_has_a_word_of_its_own(served):
    words = set()
    for _ in range(2):
        found = answer_to(served)
        (word,) = re.findall(r"'nonce-([^']+)'", found.headers["content-security-policy"])
        assert len(word) > 20
        run = [one for one in re.findall(r"<script([^>]*)>", found.text) if "type=" not in one]
        assert run == [f' nonce="{word}"']
        words.add(word)
    assert len(words) == 2


def test_nothing_is_fetched_from_elsewhere(served):
    page = answer_to(served).text
    outside = re.sub(r'<script type="application/gzip".*?</script>', "", page, flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="([^"]*)"', outside) == []
    assert not re.search(r"https?://|@import|url\(", outside)


def test_it_listens_on_this_machine_alone(served):
    """A server for every address answers at each of the loopback's, too."""
    with socket.socket() as other:
        other.settimeout(5)
        with pytest.raises(OSError, match=r"refused|timed out|unreachable|assign"):
            other.connect(("127.0.0.2", port_of(served)))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.0.1", "example.org", None])  # noqa: S104
def test_another_address_is_refused(host):
    with pytest.raises(fl.FanlightError, match="ssh -L"):
        fl.watch(Query(), host=host)


def test_a_port_that_is_taken_is_told(served):
    with pytest.raises(fl.FanlightError, match="write port=0"):
        fl.watch(Query(), port=port_of(served))
    with fl.watch(Query(), host="localhost") as other:
        assert port_of(other) != port_of(served)


class Streaming:
    """A streaming DataFrame, as far as it is asked."""

    isStreaming = True  # noqa: N815 - Spark's


class Files:
    """A DataFrame of files."""

    isStreaming = False  # noqa: N815 - Spark's

    def inputFiles(self):  # noqa: N802 - Spark's
        return ["file:/busy/part-0.parquet"]


@pytest.mark.parametrize(
    ("query", "given", "told"),
    [
        (None, {}, "pass what writeStream.start"),
        (3, {}, "pass what writeStream.start"),
        (Query(), {"windows": Streaming()}, r"spark.table\(query.name\)"),
        (Query(), {"windows": Files()}, "windows=lambda: spark.read.parquet"),
        (Query(), {"port": -1}, "is not a port"),
        (Query(), {"port": 65_536}, "is not a port"),
        (Query(), {"port": "80"}, "is not a port"),
        (Query(), {"port": True}, "is not a port"),
        (Query(), {"every": 0}, "must be positive"),
        (Query(), {"every": "1"}, "not a duration"),
        (Query(), {"every": 2}, "write every=.2 seconds"),
        (Query(), {"newest": 0}, "newest=1 or more"),
        (Query(), {"newest": 1.5}, "whole number"),
        (Query(), {"zone": "Nowhere"}, "is not a time zone"),
        (Query(), {"zone": 3}, "is not a time zone"),
        (Query(), {"value": 3}, "is not the name of a column"),
        (Query(), {"windows": 3}, "cannot be drawn"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_served(query, given, told):
    with pytest.raises(fl.FanlightError, match=told):
        fl.watch(query, **given)


def briefly(query, windows, value, zone, newest, every, port, host):
    fl.watch(
        query, windows, value=value, zone=zone, newest=newest, every=every, port=port, host=host
    ).stop()


@pytest.mark.slow
def test_whatever_an_argument_is_it_works_or_is_refused_in_our_words():
    given = {"query": Query(), "windows": windows(2), "value": "calls", "zone": "UTC"}
    given |= {"newest": 10, "every": "2 seconds", "port": 0, "host": "127.0.0.1"}
    assert given.keys() == inspect.signature(fl.watch).parameters.keys()
    good = Good(briefly, given)
    good.call()
    # Ports below 1024 may belong to the system.
    values = [one for one in VALUES if type(one) is not int or one < 1]
    assert wrong(good, fl.FanlightError, values) == []


@pytest.mark.slow
@pytest.mark.parametrize("package", ["starlette", "uvicorn", "plotly"])
def test_a_missing_package_is_named_with_what_to_install(package):
    code = f"import sys; sys.modules[{package!r}] = None\nimport fanlight as fl; fl.watch"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"fanlight.watch needs {package}, which is not installed" in ran.stderr
    assert "pip install 'fanlight[watch]'" in ran.stderr


@pytest.mark.slow
def test_no_program_is_kept_from_ending():
    code = (
        "import fanlight as fl\nfrom tests.watching.queries import Query\n"
        "print(fl.watch(Query()), flush=True)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout.startswith("watch it at http://127.0.0.1:")) == (0, True)
    assert ran.stderr == ""
