from __future__ import annotations

import json
from pathlib import Path

import pytest

from core import doctor
from core.errors import InputError
from core.retrievers.protocol import Diagnosis, Missing
from tests.support.shell import Shell

READY = Diagnosis("command", None, "whatever its commands answer")
LACKING = Diagnosis("codira", None, "emb and docs", (Missing("Codira", "run: pip install codira"),))


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setattr(doctor, "retriever_names", lambda: ("codira", "command"))
    monkeypatch.setattr(doctor, "diagnose", lambda name: READY if name == "command" else LACKING)
    return Shell(capsys)


def test_it_tells_of_the_system_and_of_each_retriever(shell: Shell) -> None:
    assert shell("doctor") == 0
    for word in ("Python", "Linux and /proc", "Git", "SQLite with FTS5", "Disk", "Terminal"):
        assert word in shell.out
    assert "missing  codira" in shell.out and "missing: Codira: run: pip install codira" in shell.out
    assert "ready    command  whatever its commands answer" in shell.out


def test_a_retriever_that_is_named_must_be_ready(shell: Shell) -> None:
    assert shell("doctor", "command") == 0
    assert "codira" not in shell.out
    assert shell("doctor", "codira") == 1
    assert shell("doctor", "codira", "command") == 1


def test_an_unknown_name_is_refused(shell: Shell) -> None:
    assert shell("doctor", "codera") == 2
    assert "choose from codira, command" in shell.err


def test_it_is_told_as_json(shell: Shell) -> None:
    assert shell("doctor", "--json") == 0
    told = json.loads(shell.out)
    assert told["well"] is True
    assert {fact["name"] for fact in told["system"]} >= {"Python", "Git", "Disk"}
    assert told["retrievers"][0] == {
        "retriever": "codira",
        "ready": False,
        "version": None,
        "answers": "emb and docs",
        "missing": [{"part": "Codira", "remedy": "run: pip install codira"}],
    }


def test_a_system_that_cannot_run_anything_is_an_answer_of_no(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise InputError("running retrievers needs Linux 5.4 or newer")

    monkeypatch.setattr(doctor, "refuse_unfit_system", refuse)
    assert shell("doctor") == 1
    assert "MISSING" in shell.out and "No campaign can run here yet." in shell.out


def test_a_defect_of_one_retriever_does_not_hide_the_others(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diagnose(name: str) -> Diagnosis:
        if name == "codira":
            raise RuntimeError("what now")
        return READY

    monkeypatch.setattr(doctor, "diagnose", diagnose)
    assert shell("doctor") == 0
    assert "report this: RuntimeError: what now" in shell.out and "ready    command" in shell.out


def test_little_room_is_told_and_refuses_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "LITTLE_DISK_BYTES", 2**80)
    found = doctor.examine(("command",), tmp_path)
    (disk,) = [fact for fact in found.facts if fact.name == "Disk"]
    assert not disk.is_fit and "make room" in str(disk.remedy)
    assert found.is_well


def test_every_retriever_that_ships_can_be_diagnosed(tmp_path: Path) -> None:
    found = doctor.examine(folder=tmp_path)
    told = {diagnosis.retriever: diagnosis for diagnosis in found.diagnoses}
    assert {"command", "embedded", "replay"} <= set(told)
    assert told["command"].is_ready and told["replay"].is_ready
