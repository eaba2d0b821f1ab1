"""What the app remembers between starts: one TOML file in the platform's folder for configuration."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs
import tomlkit

from core.durable import write_durably
from core.regular import open_regular
from core.text import printable
from tui.keys import key_problem

NAME = "settings.toml"
SORTS = ("updated", "name", "state")
_LARGEST_BYTES = 1024 * 1024
_KNOWN = ("theme", "keys", "campaigns")
_HEAD = "Settings of Boresight's terminal app. [keys] gives bindings other keys, as `?` lists them."


class Settings(NamedTuple):
    """What a person chose; `problems` says what of the file could not be used, a sentence each.

    `whole` is False where the file is there and cannot be read: it is never overwritten then.
    """

    theme: str | None = None
    keys: Mapping[str, str] = {}
    sort: str = SORTS[0]
    problems: tuple[str, ...] = ()
    whole: bool = True


def settings_file() -> Path:
    """Return where the settings lie on this platform."""
    return platformdirs.user_config_path("boresight", appauthor=False) / NAME


def read_settings(file: Path) -> Settings:
    """Return the settings of a file; without one, and for what in it cannot be used, the defaults."""
    try:
        with open_regular(file) as stream:
            raw = stream.read(_LARGEST_BYTES + 1)
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        return _unread(file, error.strerror or str(error))
    if len(raw) > _LARGEST_BYTES:
        return _unread(file, f"longer than {_LARGEST_BYTES} bytes")
    try:
        data = tomllib.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return _unread(file, str(error))
    return _parsed(data, printable(str(file)))


def remember(file: Path, settings: Settings) -> None:
    """Write what was chosen in the app into the file; all else in it, comments too, stays as it is.

    Raises OSError where it cannot be written, ValueError where its present text is no TOML.
    """
    try:
        document = tomlkit.parse(file.read_text("utf-8-sig"))
    except FileNotFoundError:
        document = tomlkit.document()
        document.add(tomlkit.comment(_HEAD))
    if settings.theme is not None:
        document["theme"] = settings.theme
    table = document.get("campaigns")
    if not isinstance(table, dict):
        table = document["campaigns"] = tomlkit.table()
    table["sort"] = settings.sort
    folder = file.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    # A file that a person keeps elsewhere, behind a link, is written there.
    write_durably(file.resolve(), tomlkit.dumps(document).encode())
    with contextlib.suppress(OSError):
        file.chmod(0o600)


def _parsed(data: Mapping[str, Any], name: str) -> Settings:
    problems = [
        f"{name}: {printable(key, 60)}: unknown; expected {', '.join(_KNOWN)}"
        for key in data
        if key not in _KNOWN
    ]
    theme = data.get("theme")
    if theme is not None and not isinstance(theme, str):
        problems.append(f"{name}: theme: found {_shown(theme)}, expected a theme's name in quotes")
        theme = None
    return Settings(theme, _keys(data, name, problems), _sort(data, name, problems), tuple(problems))


def _keys(data: Mapping[str, Any], name: str, problems: list[str]) -> dict[str, str]:
    table = data.get("keys", {})
    if not isinstance(table, dict):
        problems.append(f"{name}: keys: found {_shown(table)}, expected a table [keys]")
        return {}
    keys = {}
    for binding, value in _flattened(table):
        place = f"{name}: keys.{printable(binding, 60)}"
        if not isinstance(value, str):
            problems.append(f'{place}: found {_shown(value)}, expected keys in quotes, such as "ctrl+r,R"')
            continue
        problem = key_problem(value)
        if problem is None:
            keys[binding] = value
        else:
            problems.append(f"{place}: {problem}")
    return keys


def _flattened(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return bindings by their dotted ids, which TOML reads as nested tables where they are not quoted."""
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, dict) and prefix.count(".") < 4:
            found += _flattened(value, f"{prefix}{key}.")
        else:
            found.append((f"{prefix}{key}", value))
    return found


def _sort(data: Mapping[str, Any], name: str, problems: list[str]) -> str:
    table = data.get("campaigns", {})
    value = table.get("sort", SORTS[0]) if isinstance(table, dict) else table
    if isinstance(value, str) and value in SORTS:
        return value
    problems.append(f"{name}: campaigns.sort: found {_shown(value)}, expected one of {', '.join(SORTS)}")
    return SORTS[0]


def _unread(file: Path, reason: str) -> Settings:
    problem = (
        f"{printable(str(file))}: the settings cannot be read: {printable(reason, 300)}. The defaults are "
        "used and the file is left as it is: mend it, or take it away."
    )
    return Settings(problems=(problem,), whole=False)


def _shown(value: Any) -> str:
    return printable(repr(value), 60)
