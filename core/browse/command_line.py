"""A recorded command as a person can read it, and as one line that a shell runs as it was run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from core.text import printable

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+\Z")
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(?:state|repository|run|python)\}")
_LOCALE = "C.UTF-8"  # what every retriever is given


class Roots(NamedTuple):
    """What the placeholders of recorded commands stand for, in the run as it lies now."""

    run: str
    repository: str
    state: str
    python: str

    def expand(self, text: str) -> str:
        """Put paths back where placeholders stand."""
        values = {"{{": "{", "}}": "}", **{f"{{{name}}}": value for name, value in self._asdict().items()}}
        return _PLACEHOLDER.sub(lambda found: values[found[0]], text)


class CommandStep(NamedTuple):
    """One process: `environment` was set besides the allowed variables, `secrets` passed on by name."""

    argv: tuple[str, ...]
    cwd: str
    environment: tuple[tuple[str, str], ...] = ()
    secrets: tuple[str, ...] = ()


class Command(NamedTuple):
    """What an attempt ran: steps, one after the other, or a session that was asked one line."""

    form: str  # "one-shot", "session", or "none" where nothing could be run
    steps: tuple[CommandStep, ...]
    request: str | None
    state: str  # the cell's, whose `home` and `tmp` the command is given

    def shell_line(self) -> str:
        """Return one line that runs the same in a shell; the values of secrets are the shell's own.

        Whatever the evidence holds, words stay words: nothing in it is expanded, and no control character
        reaches the terminal that the line is pasted into.
        """
        lines = [self._step_line(step) for step in self.steps]
        if not lines:
            return ""
        line = " && ".join(lines)
        if self.request is not None:
            return f"printf '%s\\n' {shell_word(self.request)} | ({line})"
        return f"({line})"

    def _step_line(self, step: CommandStep) -> str:
        given = {
            "LANG": _LOCALE,
            **dict(step.environment),
            "HOME": f"{self.state}/home",
            "TMPDIR": f"{self.state}/tmp",  # noqa: S108 - not the system's
        }
        words = [shell_word(f"{name}={value}") for name, value in given.items()]
        words += [f'{name}="${name}"' for name in step.secrets if _NAME.match(name)]
        words += [shell_word(word) for word in step.argv]
        return f"cd {shell_word(step.cwd)} && env {' '.join(words)}"


def read_command_value(value: Any, roots: Roots) -> Command:
    """Return a recorded command with its paths put back; raises ValueError where it is none."""
    if not isinstance(value, dict) or not isinstance(value.get("steps"), list):
        raise ValueError("it holds no steps")  # noqa: TRY004 - the value comes from a file
    request = value.get("request")
    return Command(
        form=str(value.get("form")),
        steps=tuple(_step(step, roots) for step in value["steps"]),
        request=roots.expand(request) if isinstance(request, str) else None,
        state=roots.state,
    )


def shell_word(text: str) -> str:
    """Return text as one word of bash or zsh; controls and what does not print are escaped."""
    if _PLAIN.match(text):
        return text
    if printable(text) == text:
        return "'" + text.replace("'", "'\\''") + "'"
    return "$'" + "".join(_escaped(letter) for letter in text) + "'"


def _escaped(letter: str) -> str:
    if letter in "\\'":
        return f"\\{letter}"
    if printable(letter) == letter:
        return letter
    return "".join(f"\\{byte:03o}" for byte in letter.encode("utf-8", "surrogatepass"))


def _step(value: Any, roots: Roots) -> CommandStep:
    if not isinstance(value, dict) or not isinstance(value.get("argv"), list):
        raise ValueError("a step has no argv")  # noqa: TRY004 - the value comes from a file
    environment, secrets = value.get("environment"), value.get("secrets")
    return CommandStep(
        argv=tuple(roots.expand(str(word)) for word in value["argv"]),
        cwd=roots.expand(str(value.get("cwd", "{state}"))),
        environment=tuple((str(name), roots.expand(str(text))) for name, text in _items(environment)),
        secrets=tuple(str(name) for name in secrets) if isinstance(secrets, list) else (),
    )


def _items(value: Any) -> list[tuple[Any, Any]]:
    return sorted(value.items()) if isinstance(value, Mapping) else []
