"""``python -m fanlight.cli``."""

from fanlight.cli import main

if __name__ == "__main__":
    main()
