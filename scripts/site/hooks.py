"""Hooks of mkdocs, named in mkdocs.yml."""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from scripts.release.project import address
from scripts.site import notebook, reference
from scripts.site.repository import ROOT, measured, outside, relinked

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PLOTLY = "assets/plotly.min.js"
PICTURE = re.compile(r'<p><img alt="[^"]*" src="([^"]+\.svg)" ?/?></p>')


def on_startup(command: str, dirty: bool) -> None:
    """Show warnings alone; ``--quiet`` would also keep ``--strict`` from counting them."""
    del dirty
    for handler in logging.getLogger("mkdocs").handlers:
        if command == "build" and isinstance(handler, logging.StreamHandler):
            handler.setLevel(logging.WARNING)


def on_config(config: MkDocsConfig) -> None:
    """Name the repository, where its address is known."""
    config.repo_url = address() or ""


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add what lies outside of docs, and what is made."""
    wrong = reference.missing()
    if wrong:
        raise PluginError(f"scripts/site/reference.py and fanlight.__all__ differ in {wrong}")
    made = {f"reference/{page.name}.md": reference.text(page) for page in reference.pages()}
    made["measured/index.md"] = measured()
    notebooks = sorted((ROOT / "docs").rglob("*.ipynb"))
    for path in notebooks:
        uri = path.relative_to(ROOT / "docs").with_suffix(".md").as_posix()
        assets = posixpath.relpath("assets", posixpath.dirname(uri))
        made[uri] = notebook.page(path, assets)
    for uri, text in made.items():
        files.append(File.generated(config, uri, content=text))
    given = {there: ROOT / name for name, there in outside().items()}
    given |= {path.relative_to(ROOT / "docs").as_posix(): path for path in notebooks}
    given[PLOTLY] = _plotly()
    for uri, path in given.items():
        files.append(File.generated(config, uri, abs_src_path=str(path)))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to pages of the site."""
    del config, files
    uri = page.file.src_uri
    if uri.startswith("reference/") or uri == "measured/index.md":
        return markdown
    return relinked(markdown, uri)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put small drawings into the page, where they have its colours."""
    del config

    def drawing(match: re.Match[str]) -> str:
        uri = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.dest_uri), match[1]))
        found = files.get_file_from_path(uri)
        text = found.content_string if found else ""
        # its own colours are for where it stands alone
        inside = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
        return f'<div class="drawing">{inside}</div>' if "currentColor" in text else match[0]

    return PICTURE.sub(drawing, html)


def _plotly() -> Path:
    """The script of the installed plotly: the site fetches none."""
    import plotly

    return Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
