"""Runs commands of the command line in this process and keeps what they said."""

from __future__ import annotations

import pytest

from core.cli import main


class Shell:
    """Call it with a command's words; `out` and `err` are then what that command printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: object) -> int:
        """Run one command and return its exit code; a traceback is never an answer."""
        try:
            code = main([str(word) for word in words])
        except SystemExit as ended:
            code = int(ended.code or 0)
        self.out, self.err = self._capsys.readouterr()
        assert "Traceback" not in self.err and "internal error" not in self.err, self.err
        return code
