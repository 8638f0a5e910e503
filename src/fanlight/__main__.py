"""``python -m fanlight``."""

from fanlight.cli import main

if __name__ == "__main__":
    main()
