"""Tables that leave the screen as CSV files: written whole or not at all, without private repositories."""

from __future__ import annotations

import contextlib
import csv
import os
import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

from core.durable import sync_directory
from core.errors import BoresightError, IdentityError
from core.run.record import read_run
from core.text import printable

FOLDER = "exports"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s?%?\Z", re.ASCII)
_UNSAFE_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")

Row = tuple[str | None, Sequence[object]]
"""The label of the repository that a row tells of, None where it tells of none, and its cells."""


class ExportedTable(NamedTuple):
    """What an export wrote: `rows` without the header; `withheld` rows were of private repositories."""

    file: Path
    rows: int
    withheld: int


def export_table(run: Path, name: str, header: Sequence[str], rows: Iterable[Row]) -> ExportedTable:
    """Write rows to `RUN/exports/<name>-<UTC stamp>.csv`, as `write_table` does.

    A row is withheld unless its label is that of a repository of the run that is not private. Raises
    InputError or IdentityError where the run cannot be read, and what `write_table` raises.
    """
    record = read_run(run)
    return write_table(
        record.layout.root, name, header, rows, frozenset(record.repositories) - record.private
    )


def write_table(
    root: Path, name: str, header: Sequence[str], rows: Iterable[Row], shown: Collection[str] = ()
) -> ExportedTable:
    """Write rows to `ROOT/exports/<name>-<UTC stamp>.csv`, for this user alone; nothing is overwritten.

    Rows whose label is not among `shown` are withheld. Text that a spreadsheet would read as a formula gets
    an apostrophe in front, and controls are made visible. Raises BoresightError where the file cannot be
    written; nothing partial is left then, whatever `rows` raises.
    """
    folder = _folder(root)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    stem = f"{_UNSAFE_IN_NAMES.sub('-', name).strip('-')[:80] or 'table'}-{stamp}"
    temporary = folder / f".{stem}.partial-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8", newline="") as stream:
            written, withheld = _write(stream, header, rows, shown)
            stream.flush()
            os.fsync(descriptor)
        file = _publish(temporary, folder, stem)
        sync_directory(folder)
    except OSError as error:
        raise BoresightError(
            f"{printable(str(folder))}: the table cannot be written: {error.strerror or error}; "
            "make room, or see that this user may write there"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return ExportedTable(file, written, withheld)


def harmless(value: object) -> str:
    """Return a value as a cell's text in which neither a spreadsheet nor a terminal finds anything to do."""
    if value is None:
        return ""
    text = str(value)
    if isinstance(value, int | float) or _NUMBER.match(text):
        return text
    begins = text.lstrip(" ").startswith(_FORMULA)
    return f"'{printable(text)}" if begins else printable(text)


def _folder(root: Path) -> Path:
    folder = root / FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise BoresightError(
            f"{printable(str(folder))}: cannot be made: {error.strerror or error}; "
            "tables are written there: see that this user may"
        ) from None
    if folder.is_symlink():
        raise IdentityError(f"{printable(str(folder))}: a link stands in the run; take it away")
    return folder


def _write(
    stream: IO[str], header: Sequence[str], rows: Iterable[Row], shown: Collection[str]
) -> tuple[int, int]:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([harmless(name) for name in header])
    written = withheld = 0
    for repository, cells in rows:
        if repository is not None and repository not in shown:
            withheld += 1
            continue
        writer.writerow([harmless(value) for value in cells])
        written += 1
    return written, withheld


def _publish(temporary: Path, folder: Path, stem: str) -> Path:
    """Give a finished file its name, the first that is free."""
    number = 1
    while True:
        file = folder / (f"{stem}.csv" if number == 1 else f"{stem}-{number}.csv")
        try:
            file.hardlink_to(temporary)
        except FileExistsError:
            number += 1
            continue
        except OSError:  # a file system without hard links
            if os.path.lexists(file):
                number += 1
                continue
            temporary.rename(file)
        return file
