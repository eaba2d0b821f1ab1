from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from core.banks.derivation import derive
from core.errors import InputError
from core.git import GitRepository
from core.repositories import RepositoryEntry
from core.samples import make_sample_repository
from core.workspace.ingest import collect

# Changes with every change of core/samples/project, and with nothing else.
COMMIT = "7bb12d9e87cb363c422846821790ee4f9f8d047f"
INTENTS = 5
PER_INTENT = 12


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_sample_has_the_same_commit_everywhere(tmp_path: Path) -> None:
    sample = tmp_path / "new" / "sample"
    assert make_sample_repository(sample) == COMMIT
    assert git(sample, "rev-parse", "HEAD") == COMMIT
    assert git(sample, "status", "--porcelain") == ""
    git(sample, "fsck", "--strict")
    assert [path.name for path in sample.parent.iterdir()] == ["sample"]


def test_no_configuration_environment_or_umask_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = tmp_path / "template"
    (template / "hooks").mkdir(parents=True)
    hook = template / "hooks" / "reference-transaction"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    (tmp_path / ".gitconfig").write_text(
        "[core]\nautocrlf = true\neol = crlf\nfileMode = false\n[commit]\ngpgsign = true\n"
        f"[init]\ndefaultBranch = odd\ntemplateDir = {template}\ndefaultObjectFormat = sha256\n"
        "[user]\nname = Somebody\nemail = else@where\n[i18n]\ncommitEncoding = latin1\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    os.umask(0o077)
    assert make_sample_repository(tmp_path / "sample") == COMMIT


def test_an_existing_path_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        make_sample_repository(tmp_path)
    with pytest.raises(InputError, match="cannot be made"):
        make_sample_repository(tmp_path / "mine" / "sample")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError):
        make_sample_repository(tmp_path / "sample")
    assert list(tmp_path.iterdir()) == []


def test_every_intent_has_cases_and_each_target_is_a_unit(tmp_path: Path) -> None:
    make_sample_repository(tmp_path / "sample")
    found = derive(
        GitRepository(tmp_path / "sample"), RepositoryEntry(label="sample", path=tmp_path / "sample")
    )
    counts = Counter(case.intent for case in found.cases)
    assert len(counts) == INTENTS
    assert min(counts.values()) >= PER_INTENT
    units = {(unit.path, unit.line or 0, unit.kind) for unit in collect(tmp_path / "sample", 4000).units}
    targets = {(target.path, target.line, target.kind) for case in found.cases for target in case.targets}
    assert targets <= units


SCENARIO = """
from datetime import date
from pathlib import Path
from toolshed.__main__ import report
from toolshed.catalogue import Catalogue, Tool
from toolshed.errors import Refused
from toolshed.fees import FeeSchedule, invoice
from toolshed.journal import Journal
from toolshed.loans import Desk
from toolshed.maintenance import Inspection, Workbench
from toolshed.members import Register
from toolshed.money import parse_money
from toolshed.notices import overdue_loans, warning
from toolshed.opening import OpeningDays
from toolshed.waiting import WaitingList

catalogue, register, waiting = Catalogue(), Register(), WaitingList()
catalogue.add(Tool("S1", "jig saw", "cutting", parse_money("20,00"), powered=True))
ada = register.enrol("Ada", date(2025, 12, 31))
ben = register.enrol("Ben", date(2025, 12, 31))
desk = Desk(catalogue, OpeningDays(), waiting, FeeSchedule())
try:
    desk.lend("S1", ada, date(2025, 1, 8))
except Refused as error:
    assert "introduction" in str(error)
ada.trained_for.add("cutting")
loan = desk.lend("S1", ada, date(2025, 1, 8))
assert loan.due == date(2025, 1, 15)
assert desk.extend("S1", date(2025, 1, 15)).due == date(2025, 1, 22)
assert waiting.join("S1", ben.card) == 1
assert overdue_loans(desk.outstanding(), date(2025, 1, 29)) == [loan]
assert "7 days ago" in warning(ada, loan, date(2025, 1, 29))
owed = desk.take_back("S1", date(2025, 1, 29))
assert str(owed) == "3.00", owed
assert invoice({"late": owed}).splitlines()[-1].split() == ["total", "3.00"]
bench = Workbench()
bench.record(Inspection("S1", date(2025, 1, 29), True))
assert bench.worklist(catalogue, date(2025, 1, 30)) == []
assert bench.worklist(catalogue, date(2025, 6, 30)) == [catalogue.find("S1")]
journal = Journal(Path("shed.jsonl"))
journal.append("added", label="S1", day="2025-01-01")
journal.append("lent", label="S1", day="2025-01-08")
assert report(journal, "weekday") == "Wednesday"
assert report(journal, "popular").split() == ["1", "S1"]
"""


def test_the_project_is_a_program_that_works(tmp_path: Path) -> None:
    make_sample_repository(tmp_path / "sample")
    done = subprocess.run(
        [sys.executable, "-B", "-c", SCENARIO], cwd=tmp_path / "sample", capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
