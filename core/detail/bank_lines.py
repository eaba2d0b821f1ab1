"""Reads single cases out of a run's bank, however long it is, without holding the others."""

from __future__ import annotations

import hashlib
import os
from array import array

from core.banks.case import FORMAT, Bank, Case, parse_bank
from core.errors import IdentityError
from core.questions import Question
from core.run.record import RunRecord, read_cases

_BLOCK = 1024 * 1024


class WholeBank:
    """A run's bank of another form than one case a line: such banks are written by people, and small."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self._bank: Bank | None = None

    def case(self, number: int) -> Case:
        """Return the case that stands at a position, counted from 0; raises IdentityError or InputError."""
        bank = self._read()
        if not 0 <= number < len(bank.cases):
            file = self._record.layout.cases
            raise IdentityError(f"{file}: has no question {number + 1}; restore it from a copy")
        return bank.cases[number]

    def question(self, case_id: str) -> Question | None:
        """Return the graded question that a case asks, where it is one; raises as `case`."""
        graded = self._read().graded
        return None if graded is None else graded.questions.get(case_id)

    def _read(self) -> Bank:
        if self._bank is None:
            self._bank = read_cases(self._record)
        return self._bank


def open_bank(record: RunRecord) -> BankLines | WholeBank:
    """Return a reader of a run's bank; nothing is read yet."""
    return BankLines(record) if record.controls["bank"]["format"] == FORMAT else WholeBank(record)


class BankLines:
    """A run's bank by line; its digest is compared when it is first read, and whenever it has changed."""

    def __init__(self, record: RunRecord) -> None:
        self._file = record.layout.cases
        self._sha256 = record.controls["bank"]["sha256"]
        self._starts: array[int] = array("Q")
        self._seen: tuple[int, ...] = ()

    def case(self, number: int) -> Case:
        """Return the case that stands at a position, counted from 0.

        Raises IdentityError where the bank is not the frozen one, InputError where the line is no case.
        """
        try:
            with open(self._file, "rb") as stream:
                found = os.fstat(stream.fileno())
                seen = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                if seen != self._seen:
                    self._survey(stream.fileno())
                    self._seen = seen
                if not 0 <= number < len(self._starts):
                    raise IdentityError(f"{self._file}: has no line {number + 1}; restore it from a copy")
                stream.seek(self._starts[number])
                line = stream.readline()
        except OSError as error:
            raise IdentityError(f"{self._file}: {error.strerror}; restore it from a copy") from None
        return parse_bank(line, f"{self._file}, line {number + 1}").cases[0]

    def question(self, case_id: str) -> Question | None:
        """Return None: such banks hold no graded questions."""
        return None

    def _survey(self, descriptor: int) -> None:
        """Note where each line starts, and compare the digest of them all."""
        digest = hashlib.sha256()
        starts = array("Q", [0])
        read = 0
        while block := os.pread(descriptor, _BLOCK, read):
            digest.update(block)
            at = -1
            while (at := block.find(b"\n", at + 1)) >= 0:
                starts.append(read + at + 1)
            read += len(block)
        if digest.hexdigest() != self._sha256:
            raise IdentityError(f"{self._file}: changed since the run was frozen; restore it from a copy")
        starts.pop()  # nothing follows the last line's end
        self._starts = starts
