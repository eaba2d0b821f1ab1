"""Fixtures that several parts of the tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import core.retrievers
from core.engine import machine
from tests.support.hosts import end_hosts


@pytest.fixture(autouse=True)
def _fake_retriever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the retriever `fake` of tests/support known beside the real ones."""
    folder = str(Path(__file__).parent / "support" / "retrievers")
    monkeypatch.setattr(core.retrievers, "__path__", [*core.retrievers.__path__, folder])


@pytest.fixture(scope="session", autouse=True)
def _own_machine() -> Iterator[None]:
    """Let a test's campaigns, also those in processes that it starts, wait for no campaign but its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(machine.VARIABLE, f"boresight-test-{os.getpid()}")
        yield


@pytest.fixture(scope="session", autouse=True)
def _heeded_signals() -> None:
    """Heed what a shell has ignored where it starts the tests behind `&`, as processes inherit it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_host_left() -> Iterator[None]:
    """End hosting processes that a test left behind, before its folder goes."""
    yield
    end_hosts(os.environ.get(machine.VARIABLE, ""))


@pytest.fixture(autouse=True)
def _steady_umask() -> Iterator[None]:
    """Keep the umask that a test may change from reaching the next."""
    before = os.umask(0o022)
    yield
    os.umask(before)
