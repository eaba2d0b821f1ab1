"""The real Codira, in an environment of its own."""

from __future__ import annotations

from pathlib import Path

from tests.real.environments import environment

VERSION = "1.55.0"
_PARTS = ("analyzer-python", "analyzer-markdown", "backend-sqlite", "vector-store-sqlite", "embedding-onnx")
REQUIREMENTS = (
    f"codira=={VERSION}",
    *(f"codira-{part}=={VERSION}" for part in _PARTS),
    "pysqlite3-binary==0.5.4.post2",
)
# Its vector store loads an extension into SQLite, which many Pythons are built without.
_SITECUSTOMIZE = """\
import sys

import pysqlite3

sys.modules["sqlite3"] = pysqlite3
sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2
"""


def codira() -> Path:
    """Return the executable; skips the test where it cannot be installed."""
    return environment("codira", REQUIREMENTS, "3.13", {"sitecustomize.py": _SITECUSTOMIZE}) / "codira"
