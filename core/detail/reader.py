"""Reads one case of a run in full: its sources, its witness, and each candidate's answer."""

from __future__ import annotations

import threading
from pathlib import Path

from core.browse.rows import CaseDetail
from core.detail.answers import answer_view
from core.detail.bank_lines import open_bank
from core.detail.records import CaseView, Overlap, Witness
from core.detail.source_tree import SourceTree, source_path
from core.detail.sources import overlap_of, target_source, witness_of
from core.errors import BoresightError
from core.questions import Question
from core.ranking import Level
from core.rankings import EvidenceReader
from core.run.record import RunRecord


class CaseReader:
    """Reads cases of one run; threads may share it and take turns.

    Raises InputError or IdentityError where the run's record does not say what its candidates were.
    """

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self._evidence = EvidenceReader(record)
        self._bank = open_bank(record)
        self._trees: dict[str, SourceTree] = {}
        self._lock = threading.Lock()

    def read(self, detail: CaseDetail, level: Level) -> CaseView:
        """Return a case in full, with ranks and hits at a level.

        What cannot be read or does not hold its digest is told in its place and never raised.
        """
        with self._lock:
            tree = self._tree(detail.row.repository)
            targets = tuple(target_source(tree, target) for target in detail.targets)
            witness, overlap = self._derivation(detail, tree)
            question = self._question(detail)
            answers = tuple(
                answer_view(self._evidence, name, detail, (tree, targets), level, question)
                for name in self._record.candidates
            )
            return CaseView(detail.row, level, targets, witness, overlap, answers, question)

    def target_path(self, detail: CaseDetail, target: int = 0) -> Path:
        """Return where a target's file lies in the frozen tree; raises SourceError."""
        root = self._record.layout.source(detail.row.repository)
        return source_path(root, detail.targets[target].path)

    def _derivation(self, detail: CaseDetail, tree: SourceTree) -> tuple[Witness, Overlap | None]:
        try:
            case = self._bank.case(detail.row.number)
        except BoresightError as error:
            return Witness(None, detail.row.query, None, "unknown", str(error)), None
        return witness_of(case, tree), overlap_of(case, tree)

    def _question(self, detail: CaseDetail) -> Question | None:
        try:
            return self._bank.question(detail.row.id)
        except BoresightError:  # told by the witness already
            return None

    def _tree(self, label: str) -> SourceTree:
        if label not in self._trees:
            self._trees[label] = SourceTree(self._record.layout.source(label))
        return self._trees[label]
