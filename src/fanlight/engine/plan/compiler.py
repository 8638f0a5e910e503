"""Whether numba is installed here, which compiles what Python workers compute."""

from __future__ import annotations

from importlib.util import find_spec

from fanlight.engine.spec.errors import MissingPackageError

PACKAGE = "numba"
INSTALL = "pip install 'fanlight[kernels]'"
# Without it Spark starts the first python3 of the PATH, also beside a driver of another Python.
SAME_PYTHON = 'os.environ["PYSPARK_PYTHON"] = sys.executable'


def has_compiler() -> bool:
    """Whether numba could be imported; it is not."""
    return find_spec(PACKAGE) is not None


def check_compiler(what: str) -> None:
    """Refuse ``what``, a plural that only Python workers compute, where numba is missing."""
    if not has_compiler():
        raise MissingPackageError(
            f"{what} need {PACKAGE}, which is not installed here; write: {INSTALL}"
        )
