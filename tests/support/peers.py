"""Other people's implementations of our measures, to compare with."""

from __future__ import annotations

from typing import Any

import pytest


def import_ranx() -> Any:
    """Return ranx in plain Python: compiling it takes minutes, and what the tests ask of it a second."""
    numba: Any = pytest.importorskip("numba", exc_type=ImportError)
    numba.config.DISABLE_JIT = True
    return pytest.importorskip("ranx", exc_type=ImportError)
