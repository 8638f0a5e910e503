"""A headless Chromium that opens a page, asks it questions in JavaScript, and takes its answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import unescape

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = (
    "there is no Chromium: install one (apt-get install chromium), or name its program in CHROMIUM"
)

# What goes wrong is noted from the first line of the page on.
FIRST = """<script>window.wrong = [];
window.addEventListener('error', one => wrong.push('error: ' + one.message));
window.addEventListener('unhandledrejection', one => wrong.push('rejected: ' + one.reason));
for (const kind of ['error', 'warn']) console[kind] = (...said) => wrong.push(kind + ': ' + said);
</script>"""

# In a block of its own: the page's script may have the same names.
LAST = """<script>{
const wait = time => new Promise(done => setTimeout(done, time));
const figures = () => [...document.querySelectorAll('.plotly-graph-div')];
async function ask() { QUESTION }
const tell = answer => {
  const told = document.createElement('pre');
  told.id = 'told';
  told.textContent = JSON.stringify({answer, wrong});
  if (parent === window) document.body.append(told);
  else parent.postMessage(told.textContent, '*');
};
Promise.resolve(window.drawn).then(() => wait(500)).then(ask)
  .then(tell, reason => { wrong.push(String(reason)); tell(null); });
}</script></body>"""

# A window of a browser is no narrower than 500 pixels; a frame within a page may be.
NARROWEST = 500
FRAMED = """<body style="margin: 0"><script>addEventListener('message', one => {
  const told = document.createElement('pre');
  told.id = 'told';
  told.textContent = one.data;
  document.body.append(told);
});</script><iframe src="URI" style="border: 0; width: WIDTHpx; height: 900px"></iframe></body>"""


def chromium():
    """The program, or None if there is none."""
    named = os.environ.get("CHROMIUM", "")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


def answer_of_page(folder, html, question, *, dark=False, width=1000, served=None):
    """What a page answers to a question (the body of an async function), without any error.

    ``served`` is the address of the folder, for a page that does not work as a file.
    """
    path = folder / f"page-{len(list(folder.iterdir()))}.html"
    page = html.replace("<head>", f"<head>{FIRST}", 1)
    assert page != html
    front, end, back = page.rpartition("</body>")
    assert end
    path.write_text(front + LAST.replace("QUESTION", question) + back, "utf-8")
    served = served or folder.as_uri()
    if width < NARROWEST:
        text = FRAMED.replace("URI", f"{served}/{path.name}").replace("WIDTH", str(width))
        path = path.with_name(f"framed-{path.name}")
        path.write_text(text, "utf-8")
    ran = _run(folder, f"{served}/{path.name}", dark=dark, width=max(width, NARROWEST))
    told = re.search(r'<pre id="told">(.*?)</pre>', ran.stdout, re.DOTALL)
    assert told is not None, ran.stderr[-2_000:]
    found = json.loads(unescape(told[1]))
    assert not found["wrong"], "; ".join(found["wrong"])
    return found["answer"]


def opened(folder, url, *, dark=False, width=1000, seconds=8):
    """What a served page has become after some seconds, and what went wrong meanwhile."""
    ran = _run(folder, url, dark=dark, width=width, budget=seconds * 1_000)
    assert "</html>" in ran.stdout, ran.stderr[-2_000:]
    said = [line for line in ran.stderr.splitlines() if ":CONSOLE" in line]
    return ran.stdout, said


def _run(folder, url, *, dark, width, budget=30_000):
    command = [
        chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900",
        f"--virtual-time-budget={budget}", "--dump-dom", "--enable-logging=stderr",
        *(["--blink-settings=preferredColorScheme=0"] if dark else []), url,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
