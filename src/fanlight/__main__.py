"""``python -m fanlight``."""

from fanlight.cli import main

main()
