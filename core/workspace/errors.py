"""Failures of the embedded retriever that end its process with a message and exit code 1."""

from __future__ import annotations

from core.errors import BoresightError, Exit


class WorkspaceError(BoresightError):
    """The embedded retriever cannot index or answer; the message says what and why."""

    exit_code = Exit.NEGATIVE


class IndexStateError(WorkspaceError):
    """An index is missing, damaged or incomplete; `kind` is a short stable word for which."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)
