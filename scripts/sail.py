"""Try each kind of window on Sail, a server of Spark Connect in Rust, and write down what it says.

The wheel, pysail and PySpark's client for Connect go into an environment made for it. The tables of
the page are what `tests/wheel/on_sail.py` prints there; it compares with the answers of Spark.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

from scripts.wheels import CHECKS, OUT, ROOT, UV, built, run

PAGE = ROOT / "docs/sail.md"
BEGIN, END = "<!-- sail:begin -->\n", "<!-- sail:end -->"
PACKAGES = ("pysail==0.7.2", "pyspark-client==4.2.0", "pandas<3")


def main() -> None:
    """Make the environment, run the program, and put its table into the page."""
    folder = OUT / "sail"
    made = run(*UV, "--quiet", "venv", "--clear", "--python", sys.executable, folder)
    install = (*UV, "--quiet", "pip", "install", "--python", folder, built(), *PACKAGES)
    if not (made and run(*install)):
        sys.exit(f"sail: {', '.join(PACKAGES)} could not be installed")
    program, answers = CHECKS / "on_sail.py", folder / "answers.json"
    if not run(sys.executable, program, "spark", answers):
        sys.exit("sail: there are no answers of Spark to compare with")
    asked = (folder / "bin" / "python", program, "sail", answers)
    told = subprocess.run(asked, cwd=OUT, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{told.stdout}{END}{rest.partition(END)[2]}", "utf-8")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
