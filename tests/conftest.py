"""Fixtures that several parts of the tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import core.retrievers
from core.engine import machine


@pytest.fixture(autouse=True)
def _fake_retriever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the retriever `fake` of tests/support known beside the real ones."""
    folder = str(Path(__file__).parent / "support" / "retrievers")
    monkeypatch.setattr(core.retrievers, "__path__", [*core.retrievers.__path__, folder])


@pytest.fixture(autouse=True)
def _own_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test's campaigns wait for no campaign but its own."""
    monkeypatch.setattr(machine, "NAME", f"\0boresight-test-{os.getpid()}")


@pytest.fixture(autouse=True)
def _steady_umask() -> Iterator[None]:
    """Keep the umask that a test may change from reaching the next."""
    before = os.umask(0o022)
    yield
    os.umask(before)
