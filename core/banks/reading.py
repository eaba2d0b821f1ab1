"""Reads a bank of any format, told apart by its bytes."""

from __future__ import annotations

from pathlib import Path

from core.banks.case import Bank, parse_bank
from core.banks.graded import is_graded, parse_graded
from core.errors import InputError

MAX_BANK_BYTES = 512 * 1024 * 1024


def read_bank(path: Path | str) -> Bank:
    """Read and check a bank's file; raises InputError, or ProblemsError that lists what is wrong in it."""
    return decode_bank(read_bytes(path), str(path))


def read_bytes(path: Path | str) -> bytes:
    """Return the bytes of a bank's file, whatever they hold; raises InputError."""
    try:
        with open(path, "rb") as stream:
            raw = stream.read(MAX_BANK_BYTES + 1)
    except OSError as error:
        raise InputError(
            f"cannot read the bank {path}: {error.strerror}; name a file made by `boresight bank build`"
        ) from None
    except ValueError:
        raise InputError("a bank's file name cannot hold NUL; name a file") from None
    if len(raw) > MAX_BANK_BYTES:
        raise InputError(
            f"the bank {path} is larger than {MAX_BANK_BYTES // 2**20} MiB; split it into several banks"
        )
    return raw


def decode_bank(raw: bytes, name: str) -> Bank:
    """Return the bank that bytes hold; a graded one is not yet bound to a repository.

    `name` is what messages call it. Raises InputError, or ProblemsError that lists what is wrong.
    """
    return parse_graded(raw, name) if is_graded(raw) else parse_bank(raw, name)
