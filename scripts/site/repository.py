"""Files of the repository as pages of the site, and links between them.

A page says where another lies in the repository, so that its links lead somewhere on a code host,
too; on the site the same links lead to the same pages.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
TO_A_FILE = re.compile(r"(?<=\]\()(?![\w+.-]+:|#)([^)\s#]+)")

# Pages that lie outside of docs, and where they are on the site.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "ROADMAP.md": "roadmap.md",
    "GOVERNANCE.md": "governance.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "LICENSE": "LICENSE.txt",
}
MEASURED = ("benchmarks", "experiments")


def outside() -> dict[str, str]:
    """Each file outside of docs that the site has, and where it is there."""
    found = dict(PAGES)
    for folder in MEASURED:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".md", ".svg"}:
                name = path.relative_to(ROOT).as_posix()
                found[name] = f"measured/{name}"
    return found


def on_site(name: str) -> str | None:
    """Where a file of the repository is on the site, if it is there."""
    if name.startswith("docs/"):
        inside = name.removeprefix("docs/")
        return f"{inside.removesuffix('.ipynb')}.md" if inside.endswith(".ipynb") else inside
    return outside().get(name)


def in_repository(uri: str) -> str:
    """Where the source of a page of the site is in the repository."""
    sources = {there: name for name, there in outside().items()}
    return sources.get(uri, f"docs/{uri}")


def relinked(text: str, uri: str) -> str:
    """A page whose links to files lead to the pages that these are on the site."""
    home = posixpath.dirname(in_repository(uri))

    def there(match: re.Match[str]) -> str:
        name = posixpath.normpath(posixpath.join(home, match[1]))
        page = on_site(name)
        if page is None:
            return match[1]  # the strict build says that it leads nowhere
        return posixpath.relpath(page, posixpath.dirname(uri) or ".")

    parts = CODE.split(text)
    parts[::2] = [TO_A_FILE.sub(there, part) for part in parts[::2]]
    return "".join(parts)


def measured() -> str:
    """A list of the pages of the papers' experiments."""
    lines = [
        "# The papers' experiments",
        "",
        "Each paper's experiments, repeated; what was found stands beside what the paper says.",
        "Features of card payments are held against those that their authors computed. How soon",
        "frames that are cut from the middle are the true ones is a question of our own.",
    ]
    for folder in sorted((ROOT / "experiments").iterdir()):
        pages = sorted(folder.glob("*.md"))
        if pages:
            lines += ["", f"## {folder.name.replace('_', ' ').capitalize()}", ""]
            for path in pages:
                head = path.read_text("utf-8").splitlines()[0].lstrip("# ")
                lines.append(f"- [{head}](experiments/{folder.name}/{path.name})")
    return "\n".join([*lines, ""])
