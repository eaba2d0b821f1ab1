"""A campaign file while a person edits it: one text, changed by form and by hand, with its comments kept."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array

from core.campaign import toml_edits
from core.campaign.saving import Stamp, save_text, stamp_of
from core.campaign.toml_map import Place, TomlMap, map_toml
from core.errors import InputError
from core.text import printable
from core.validation import field_path, read_text_file

_AT = re.compile(r"\(at line (\d+), column (\d+)\)")
_Change = Callable[[Any], None]


class Fault(NamedTuple):
    """Why a text is no TOML, and where; line and column count from 1."""

    line: int
    column: int
    message: str


class Snapshot(NamedTuple):
    """A document at one moment: its last valid text, what that says, and the fault of the present text."""

    text: str
    data: Mapping[str, Any]
    fault: Fault | None
    path: Path | None


class CampaignDocument:
    """One campaign file's text, and what it says.

    While the text is no valid TOML, `fault` says where, `data` stays as it last was, and fields cannot be
    set. Edits of fields change the text where the field stands and leave the rest of it, comments included,
    byte for byte. For one thread at a time.
    """

    def __init__(self, text: str, path: Path | None = None, stamp: Stamp | None = None) -> None:
        self.path = path
        self.text = ""
        self.data: dict[str, Any] = {}
        self.fault: Fault | None = None
        self._good = ""  # the last text that was valid
        self._where: tuple[str, TomlMap] | None = None  # of `_good`, once asked for
        self._stamp = stamp  # of the file as it was read or saved last; None where there is none yet
        self.replace_text(text)
        self._saved = text if stamp is not None else None

    @classmethod
    def read(cls, path: Path) -> CampaignDocument:
        """Read a campaign file, valid or not; raises InputError where it cannot be read at all."""
        stamp = stamp_of(path)
        return cls(read_text_file(path), path, stamp)

    @property
    def is_changed(self) -> bool:
        """Whether the text differs from what was read or saved last."""
        return self.text != self._saved

    @property
    def snapshot(self) -> Snapshot:
        """What checks read, in another thread if they like: nothing of it is changed by later edits."""
        return Snapshot(self._good, self.data, self.fault, self.path)

    @property
    def is_stale(self) -> bool:
        """Whether the file on disk is no longer the one that was read or saved last."""
        return self.path is not None and stamp_of(self.path) != self._stamp

    @property
    def where(self) -> TomlMap:
        """Where everything stands in the last valid text."""
        if self._where is None or self._where[0] is not self._good:
            self._where = (self._good, map_toml(self._good))
        return self._where[1]

    def replace_text(self, text: str) -> None:
        """Take a text as typed; where it is no valid TOML, `fault` says so and `data` stays."""
        self.text = text
        try:
            data = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # ValueError also for a number of 5,000 digits
            self.fault = _fault(text, error)
            return
        self.fault, self.data, self._good = None, data, text

    def get(self, place: Place, default: Any = None) -> Any:
        """Return the value at a place, or `default` where there is none."""
        found: Any = self.data
        for part in place:
            try:
                found = found[part]
            except (KeyError, IndexError, TypeError):
                return default
        return found

    def set(self, place: Place, value: Any) -> None:
        """Set a field, making the tables around it; None removes it. Raises InputError."""
        if value is None:
            self.unset(place)
            return
        plain = without_none(value)
        if self.fault is None and _same(self.get(place), plain):
            return
        self._edit(
            place,
            lambda root: _assign(root, place, plain),
            lambda text: toml_edits.set_value(text, self.where, place, plain),
        )

    def unset(self, place: Place) -> None:
        """Remove a field, which then has its default; harmless where it is not set. Raises InputError."""
        if self.fault is None and self.get(place) is None:
            return
        self._edit(
            place,
            lambda root: _remove(root, place),
            lambda text: toml_edits.remove_value(text, self.where, place),
        )

    def add(self, table: str, entry: Mapping[str, Any]) -> int:
        """Append an entry to `candidates` or `repositories`; return its number. Raises InputError."""
        plain = without_none(entry)
        self._edit(
            (table,),
            lambda root: _append(root, table, plain),
            lambda text: toml_edits.append_entry(text, self.where, table, plain),
        )
        return len(self.data[table]) - 1

    def remove(self, table: str, number: int) -> None:
        """Remove an entry of an array of tables, keeping the comments around it; raises InputError."""
        place = (table, number)
        self._edit(
            place,
            lambda root: _remove(root, place),
            lambda text: toml_edits.remove_entry(text, self.where, place),
        )

    def duplicate(self, table: str, number: int, changes: Mapping[str, Any]) -> int:
        """Append a copy of an entry with some fields changed; return its number. Raises InputError."""
        entry = copy.deepcopy(self.get((table, number)))
        if not isinstance(entry, dict):
            raise InputError(f"{field_path((table, number))}: there is no such entry to copy")
        return self.add(table, {**entry, **changes})

    def save(self, path: Path | None = None, *, overwrite: bool = False) -> None:
        """Write the text, whole or not at all, under the file's own mode.

        `path` gives it another place from now on. Raises ChangedFileError where the file is not as it was
        read or saved last, unless `overwrite`, and InputError where it cannot be written.
        """
        target = path or self.path
        if target is None:
            raise InputError("this campaign has no file yet; name one")
        known = self._stamp if target == self.path else None
        self._stamp = save_text(target, self.text, known, overwrite=overwrite)
        self.path, self._saved = target, self.text

    def _edit(self, place: Place, change: _Change, in_text: Callable[[str], str | None]) -> None:
        """Make a change in the text alone; where its layout does not let that be, in tomlkit's document."""
        if self.fault is not None:
            raise InputError(
                f"line {self.fault.line} is not valid TOML, so no field can be set; mend it first, as TOML"
            )
        try:
            wanted = copy.deepcopy(self.data)
            change(wanted)
            text = in_text(self._good)
            if text is not None and self._takes(text, wanted):
                return
            toml = tomlkit.parse(self._good)
            change(toml)
            if self._takes(tomlkit.dumps(toml), wanted):
                return
        except (TOMLKitError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass
        raise InputError(
            f"{field_path(place)}: stands in the text in a way that a form cannot change without changing "
            "more; edit it as TOML"
        )

    def _takes(self, text: str, wanted: Mapping[str, Any]) -> bool:
        """Take a text if it says exactly what is wanted, so that no edit can do anything else by the way."""
        try:
            data = tomllib.loads(text)
        except (ValueError, RecursionError):
            return False
        if not _same(data, wanted):
            return False
        self.text = self._good = text
        self.data = data
        return True


def without_none(value: Any) -> Any:
    """Return a value as TOML can hold it: what is None is left out of mappings and lists."""
    if isinstance(value, Mapping):
        return {key: without_none(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [without_none(inner) for inner in value if inner is not None]
    return value


def _assign(root: Any, place: Place, value: Any) -> None:
    holder = root
    for part in place[:-1]:
        if isinstance(part, str) and part not in holder:
            holder[part] = {}
        holder = holder[part]
    holder[place[-1]] = value


def _remove(root: Any, place: Place) -> None:
    holders = [root]
    for part in place[:-1]:
        holders.append(holders[-1][part])
    del holders[-1][place[-1]]
    if isinstance(place[-1], int) and len(holders[-1]) == 0:  # no text can say an empty array of tables
        del holders[-2][place[-2]]


def _append(root: Any, table: str, entry: Mapping[str, Any]) -> None:
    entries = root.get(table)
    if entries is None and isinstance(root, tomlkit.TOMLDocument):
        entries = tomlkit.aot()
        root[table] = entries
        entries = root[table]
    elif entries is None:
        entries = root[table] = []
    if isinstance(entries, AoT):
        entries.append(_table(entry))
    elif isinstance(entries, Array):
        entries.append(entry)
    else:
        entries.append(copy.deepcopy(dict(entry)))


def _table(entry: Mapping[str, Any]) -> Any:
    table = tomlkit.table()
    table.update(entry)
    return table


def _same(found: Any, wanted: Any) -> bool:
    """Compare values of TOML; unlike `==` it tells 1 from 1.0 and true, and nan is itself."""
    if type(found) is not type(wanted):
        return False
    if isinstance(found, dict):
        return found.keys() == wanted.keys() and all(_same(found[key], wanted[key]) for key in found)
    if isinstance(found, list):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    return bool(found == wanted) or (found != found and wanted != wanted)


def _fault(text: str, error: Exception) -> Fault:
    message = printable(str(error), 300)
    match = _AT.search(message)
    if match:
        line, column = int(match[1]), int(match[2])
    elif "end of document" in message:
        lines = text.split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    else:
        line, column = 1, 1
    return Fault(line, column, _AT.sub("", message).replace("(at end of document)", "").strip())
