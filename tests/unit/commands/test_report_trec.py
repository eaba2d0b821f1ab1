"""What `report --format trec` writes is read by other evaluators, which compute our numbers from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import pytest

from core import api
from tests.support.finished import finished_run
from tests.support.peers import import_ranx
from tests.support.shell import Shell

CUTOFFS = (1, 5, 10)


class Exported:
    """The files of a finished run, and its scoreboard."""

    def __init__(self, folder: Path, shell: Shell) -> None:
        run = finished_run(folder).run
        assert shell("report", run, "--format", "trec", "--output", folder / "trec") == 0
        self.narrated = shell.err
        self.board = api.rescore(run).board
        self.qrels = (folder / "trec" / "qrels.txt").read_text()
        self.runs = {name: (folder / "trec" / f"{name}.run").read_text() for name in self.board.candidates}


@pytest.fixture
def exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Exported:
    return Exported(tmp_path, Shell(capsys))


def test_ir_measures_computes_our_means(exported: Exported) -> None:
    reader: Any = ir_measures
    qrels = list(reader.read_trec_qrels(exported.qrels))
    for name, text in exported.runs.items():
        ours = exported.board.candidates[name].micro
        for k in CUTOFFS:
            measures = (ir_measures.Success @ k, ir_measures.R @ k, ir_measures.RR @ k)
            theirs = reader.calc_aggregate(measures, qrels, list(reader.read_trec_run(text)))
            assert [theirs[measure] for measure in measures] == pytest.approx(list(ours[k]))


def test_ranx_computes_our_means(exported: Exported, tmp_path: Path) -> None:
    ranx = import_ranx()
    qrels = ranx.Qrels.from_file(str(tmp_path / "trec" / "qrels.txt"), kind="trec")
    for name in exported.runs:
        found = ranx.Run.from_file(str(tmp_path / "trec" / f"{name}.run"), kind="trec")
        ours = exported.board.candidates[name].micro
        for k in CUTOFFS:
            names = [f"hit_rate@{k}", f"recall@{k}", f"mrr@{k}"]
            theirs = ranx.evaluate(qrels, found, names, make_comparable=True)
            assert [theirs[each] for each in names] == pytest.approx(list(ours[k]))


def test_trec_eval_computes_our_hits(exported: Exported) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels: dict[str, dict[str, int]] = {}
    for line in exported.qrels.splitlines():
        case, _, docno, grade = line.split()
        qrels.setdefault(case, {})[docno] = int(grade)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"success.1,5,10"})
    for name, text in exported.runs.items():
        run: dict[str, dict[str, float]] = {}
        for line in text.splitlines():
            case, _, docno, _, score, _ = line.split()
            run.setdefault(case, {})[docno] = float(score)
        theirs = evaluator.evaluate(run)
        for k in CUTOFFS:
            mean = sum(found[f"success_{k}"] for found in theirs.values()) / len(qrels)
            assert mean == pytest.approx(exported.board.candidates[name].micro[k].hit)


def test_the_level_that_names_were_given_at_is_told(exported: Exported) -> None:
    assert 'an entry that replays these files says level = "exact"' in exported.narrated
