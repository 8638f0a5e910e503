"""What the documentation is made of: the reference, pictures, links, notebooks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from threading import Thread

import nbformat
import pytest

from fanlight import agg, algebra, plots
from scripts.notebooks import notebooks
from scripts.pictures import IMAGES, KINDS, drawn
from scripts.site import notebook, reference, repository, roles
from tests.helpers.house import ROOT
from tests.plots.browser import MISSING, answer_of_page, chromium

# What does not fit: the page, and code and tables, of which each is named by its text.
FITS = """return {
  page: document.documentElement.scrollWidth, window: innerWidth,
  cut: [...document.querySelectorAll('article pre > code, .md-typeset__scrollwrap')]
    .filter(one => one.scrollWidth > one.clientWidth + 1)
    .map(one => [one.closest('[class*=language-text]') ? 'output' : one.tagName, one.innerText]),
  hidden: [...document.querySelectorAll('article pre > code, .md-typeset__scrollwrap')]
    .filter(one => getComputedStyle(one).overflowX !== 'auto').map(one => one.innerText),
}"""
LOOKED_AT = ("index.html", "sql.html", "replace.html", "plots.html", "reference/functions.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built as ``make docs`` does."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    return folder


@pytest.fixture(scope="module")
def address(site):
    """Where the site is served."""
    served = partial(SimpleHTTPRequestHandler, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), served) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason=MISSING)
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_pages_fit_a_phone_and_a_screen(site, address, width):
    for name in LOOKED_AT:
        page = site / name
        served = f"{address}/{name}".rpartition("/")[0]
        look = answer_of_page(
            page.parent, page.read_text("utf-8"), FITS, width=width, served=served
        )
        assert look["page"] <= look["window"], name
        assert look["hidden"] == [], name
        assert {what for what, _ in look["cut"]} <= {"output", "DIV"}, (name, look["cut"])
        if name == "index.html":
            assert {what for what, _ in look["cut"]} <= ({"output"} if width < 768 else set())


@pytest.mark.slow
def test_signatures_of_the_reference_have_names_that_a_reader_knows(site):
    shown = 0
    for page in reference.pages():
        text = (site / "reference" / f"{page.name}.html").read_text("utf-8")
        for unlinked in re.findall(r'<span title="(fanlight\.[\w.]+)">', text):
            module, _, name = unlinked.rpartition(".")
            assert isinstance(getattr(import_module(module), name), type), unlinked
        shown += text.count("doc-signature")
        assert "doc-overloads" not in text
        assert not re.search(r"={4} +={4}", text)
    assert shown > 100
    aggregates = (site / "reference" / "agg.html").read_text("utf-8")
    assert "_enter" not in re.sub(r"<[^>]+>", "", aggregates)


def test_tables_of_docstrings_become_those_of_markdown():
    told = "One.\n\n=====  ===\na b    c\n=====  ===\n``d``  ef\ng\n=====  ===\n\nTwo."
    assert roles.tabled(told) == "One.\n\n| a b | c |\n|---|---|\n| ``d`` | ef |\n| g |  |\n\nTwo."


def test_every_public_name_has_one_place_in_the_reference(monkeypatch):
    assert reference.missing() == []
    found = {page.module: set(page.names) for page in reference.pages()}
    assert found["fanlight.agg"] == set(agg.__all__)
    assert found["fanlight.algebra"] == set(algebra.__all__)
    assert found["fanlight.plots"] == set(plots.__all__)
    monkeypatch.setattr(reference, "SPECS", reference.SPECS[1:])
    assert reference.missing() == ["Sliding"]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_pictures_of_pages_are_those_of_notebooks(kind):
    kept = (IMAGES / f"{kind}.svg").read_text("utf-8")
    assert kept == drawn(KINDS[kind]), "run python -m scripts.pictures"
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert f"](images/{kind}.svg)" in pages


@pytest.mark.parametrize(
    ("uri", "text", "linked"),
    [
        ("index.md", "[a](docs/sliding.md#strategies)", "[a](sliding.md#strategies)"),
        ("index.md", "[a](LICENSE) [b](CHANGELOG.md)", "[a](LICENSE.txt) [b](changes.md)"),
        ("index.md", "[a](https://example.org) `[b](docs/sliding.md)`", None),
        ("frames.md", "[a](../CONTRIBUTING.md)", "[a](contributing.md)"),
        ("decisions/0001-sql-text.md", "[a](../sliding.md)", None),
        ("start.md", "[a](notebooks/flights.ipynb)", "[a](notebooks/flights.md)"),
        (
            "frames.md",
            "[a](../benchmarks/results.md)",
            "[a](measured/benchmarks/results.md)",
        ),
    ],
)
def test_links_of_the_repository_lead_to_pages_of_the_site(uri, text, linked):
    assert repository.relinked(text, uri) == (linked or text)


def test_roles_of_docstrings_become_links_where_the_reference_has_the_name():
    told = roles.linked(":func:`fanlight.over` :func:`sliding` :meth:`none`", "fanlight.plots.draw")
    assert told == "[`fanlight.over`][fanlight.over] [`sliding`][fanlight.plots.sliding] `none`"


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_has_been_run_and_is_shown_with_what_it_gave(path):
    kept = nbformat.read(path, as_version=4)
    assert any(cell.get("outputs") for cell in kept.cells)
    assert all(
        output.output_type != "error" for cell in kept.cells for output in cell.get("outputs", [])
    )
    page = notebook.page(path, "../assets")
    drawings = len(re.findall(r"<script>fanlightFigure\(", page))
    assert drawings == sum(
        notebook.DRAWN in output.get("data", {})
        for cell in kept.cells
        for output in cell.get("outputs", [])
    )
    assert drawings > 0


def test_the_site_fetches_nothing():
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert "font: false" in settings
    assert not re.search(r"https?://", settings)


def test_what_leads_nowhere_fails_the_build():
    """What is quiet is not counted by ``--strict``, and so passes."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (built,) = re.findall(r"mkdocs .*build.*", makefile)
    assert "--strict" in built
    assert not re.search(r"--quiet|-q\b", built)
    asked = (ROOT / "mkdocs.yml").read_text("utf-8")
    for level in ("not_found", "anchors", "absolute_links", "omitted_files"):
        assert re.search(rf"\b{level}: warn\b", asked), level
