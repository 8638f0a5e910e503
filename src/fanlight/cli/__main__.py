"""``python -m fanlight.cli``."""

from fanlight.cli import main

main()
