"""The written pages: links lead somewhere, decisions are indexed, words are drawn and explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.house import ROOT, own_files
from tests.helpers.pages import LINK, prose

DECISIONS = ROOT / "docs/decisions"
PAGES = sorted(path for path in own_files() if path.suffix == ".md")


def anchors(text: str) -> set[str]:
    """The headings of a page as links name them."""
    heads = re.findall(
        r"^#+ (.+)$",
        re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL),
        re.MULTILINE,
    )
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def dead_links(page: Path, text: str) -> list[str]:
    """The links of a page to files and headings that are not there."""
    found = []
    for match in LINK.finditer(prose(text)):
        target = match[1] or match[2]
        if re.match(r"\w+:", target):
            continue  # elsewhere
        name, _, head = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        known = path.exists() and (not head or head in anchors(path.read_text("utf-8")))
        if not known:
            found.append(target)
    return found


def test_links_lead_somewhere():
    assert ROOT / "README.md" in PAGES
    links = {page: dead_links(page, page.read_text("utf-8")) for page in PAGES}
    assert {str(page): dead for page, dead in links.items() if dead} == {}


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("[a](docs/sliding.md)", []),
        ("[a](docs/sliding.md#strategies)", []),
        ("[a](docs/sliding.md#no-such-heading)", ["docs/sliding.md#no-such-heading"]),
        ("[a](docs/no_such_page.md)", ["docs/no_such_page.md"]),
        ('<img src="docs/images/none.svg">', ["docs/images/none.svg"]),
        ("`[a](b)` [a](https://example.org/b)", []),
    ],
)
def test_a_dead_link_is_seen(text, dead):
    assert dead_links(ROOT / "README.md", text) == dead


def decisions() -> list[tuple[int, str, str]]:
    """(number of the file, its title as the index should show it, file) of every decision."""
    found = []
    for path in sorted(DECISIONS.glob("[0-9]*.md")):
        head = path.read_text("utf-8").splitlines()[0]
        number, _, title = head.removeprefix("# ").partition(". ")
        assert number == str(int(path.name[:4])), f"{path.name} is headed {head!r}"
        found.append((int(number), title, path.name))
    return found


def test_every_decision_has_a_number_without_gaps_and_is_in_the_index():
    wanted = decisions()
    assert [number for number, _, _ in wanted] == list(range(1, len(wanted) + 1))
    index = (DECISIONS / "README.md").read_text("utf-8")
    listed = re.findall(r"^(\d+)\. \[(.+)\]\((\S+)\)$", index, re.MULTILINE)
    assert [(int(number), title, name) for number, title, name in listed] == wanted


def test_a_decision_is_cited_by_its_number():
    names = {number: name for number, _, name in decisions()}
    files = [path for path in own_files() if path.suffix in {".md", ".py"}]
    wrong = []
    for path in files:
        text = path.read_text("utf-8")
        for number, link in re.findall(r"\b[Dd]ecision (\d+)\b(?:\]\(([^)\s]+)\))?", text):
            name = names.get(int(number))
            if name is None or (link and Path(link).name != name):
                wrong.append(f"{path.relative_to(ROOT)}: decision {number} {link}")
    assert wrong == []


def test_each_word_of_the_glossary_is_explained_once_and_drawn_once():
    glossary = (ROOT / "docs/glossary.md").read_text("utf-8")
    picture = (ROOT / "docs/images/glossary.svg").read_text("utf-8")
    explained = [w for w in re.findall(r"^\| ([^|]+?) \| ", glossary, re.MULTILINE) if w != "word"]
    drawn = re.findall(r'class="word"[^>]*>([^<]+)<', picture)
    assert len(explained) == len(set(explained)) > 0
    assert sorted(drawn) == sorted(explained)


def test_files_that_the_table_of_algorithms_names_are_there():
    cards = (ROOT / "docs/cards.md").read_text("utf-8")
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", cards))
    assert "operators/partials.py" in named
    homes = [ROOT, ROOT / "src/fanlight/engine"]
    assert [one for one in sorted(named) if not any((home / one).exists() for home in homes)] == []


def test_the_map_of_the_source_is_true():
    """CONTRIBUTING's tree: names as they are indented, a folder with a slash."""
    block = re.search(
        r"^## Where things live$(.+?)^## ",
        (ROOT / "CONTRIBUTING.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert block is not None
    home, above, wrong, told = ROOT / "src/fanlight", [], [], set()
    for indent, name in re.findall(r"^ {4}( *)([\w.]+/?) {2,}\S", block[1], re.MULTILINE):
        above[len(indent) // 2 :] = [name]
        path = home / "".join(above)
        told.add(path)
        if not (path.is_dir() if name.endswith("/") else path.is_file()):
            wrong.append("".join(above))
    rooms = {path.parent for at in ("*", "engine/*") for path in home.glob(f"{at}/__init__.py")}
    assert wrong == []
    assert rooms <= told


def test_targets_that_pages_name_are_in_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set()
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    for page in [*pages, *(ROOT / "docs").rglob("*.md")]:
        named |= set(
            re.findall(r"(?:^(?: {4})?|`)make ([a-z-]+)", page.read_text("utf-8"), re.MULTILINE)
        )
    assert {"test", "coverage"} <= named <= targets


@pytest.mark.parametrize("kind", ["sliding", "multi_granular", "frames", "spanning", "widening"])
def test_a_kind_says_how_it_differs_from_its_paper_and_what_a_stream_keeps(kind):
    text = (ROOT / f"docs/{kind}.md").read_text("utf-8")
    before, _, differences = text.partition("\n## Differences from the paper\n")
    assert re.search(r"^- ", differences, re.MULTILINE)
    assert "\n## " not in differences  # it is the last section, so that it is found
    assert "\n**What a stream keeps**, for each key" in before
