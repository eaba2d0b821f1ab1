"""`bank check`, `stats` and `grade-template` on graded banks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import Exit
from tests.support.graded import MODULES, QUERIES, SECRET_WORDS, document, graded_scene
from tests.support.shell import Shell


class Files:
    """A graded bank and its manifest."""

    def __init__(self, folder: Path, *, private: bool = False) -> None:
        scene = graded_scene(folder, private=private)
        self.bank = scene.cases
        self.manifest = folder / "repositories.json"
        place = {"label": "shop", "path": "shop", "commit": scene.repository.commit, "private": private}
        self.manifest.write_text(json.dumps({"schema_version": 1, "repositories": [place]}))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def test_a_bank_that_grades_everything_is_sound(shell: Shell, files: Files) -> None:
    assert shell("bank", "check", files.bank, "--repo-manifest", files.manifest) == Exit.DONE
    assert shell.out == "Checked 3 questions: every module is graded, and the file is sound\n"


def test_gaps_of_coverage_alone_are_a_negative_answer(shell: Shell, files: Files) -> None:
    files.bank.write_bytes(document({**QUERIES[0], "relevance_grades": {"shop/prices.py": 3}}))
    assert shell("bank", "check", files.bank, "--repo-manifest", files.manifest) == Exit.NEGATIVE
    assert "q-one: module_ungraded: 2 of 3 modules have no grade" in shell.out
    assert shell.out.endswith("Checked 1 questions: 1 of its coverage\n")


def test_faults_of_the_file_come_with_those_of_coverage_and_make_it_bad_input(
    shell: Shell, files: Files
) -> None:
    bad = {**QUERIES[0], "relevance_grades": {"shop/prices.py": 9, "gone.py": 1}, "gold_facts": ["one"]}
    files.bank.write_bytes(document(bad, QUERIES[1]))
    check = ["bank", "check", files.bank, "--repo-manifest", files.manifest]
    assert shell(*check) == Exit.BAD_INPUT
    lines = shell.out.splitlines()
    assert len(lines) == 5
    assert lines[0] == "queries[0] (q-one).relevance_grades: shop/prices.py: found 9, expected 0 to 3"
    assert lines[-1] == "Checked 2 questions: 2 problems of the file and 2 of its coverage"
    assert shell(*check, "--json") == Exit.BAD_INPUT
    told = json.loads(shell.out)
    assert (told["checked"], told["ok"], len(told["problems"]), len(told["findings"])) == (2, False, 2, 2)


def test_a_private_bank_is_told_by_ids_alone(shell: Shell, tmp_path: Path) -> None:
    files = Files(tmp_path, private=True)
    bad = {**QUERIES[0], "relevance_grades": {"shop/prices.py": 9, "stock": 1}, "gold_facts": ["stock"]}
    files.bank.write_bytes(document(bad))
    for more in ((), ("--json",)):
        assert shell("bank", "check", files.bank, "--repo-manifest", files.manifest, *more) == Exit.BAD_INPUT
        assert "q-one" in shell.out
        assert not any(word in shell.out + shell.err for word in SECRET_WORDS if word != "q-one")


def test_a_manifest_of_two_repositories_is_refused(shell: Shell, files: Files) -> None:
    manifest = json.loads(files.manifest.read_bytes())
    manifest["repositories"].append({**manifest["repositories"][0], "label": "other"})
    files.manifest.write_text(json.dumps(manifest))
    for action in ("check", "stats"):
        assert shell("bank", action, files.bank, "--repo-manifest", files.manifest) == Exit.BAD_INPUT
        assert "asks about one repository, the manifest names 2" in shell.err


def test_a_bank_is_described(shell: Shell, files: Files) -> None:
    assert shell("bank", "stats", files.bank) == Exit.DONE
    for part in (
        "3 graded questions over 3 modules, bank SHA-256 ",
        "cross-file",
        "grades: 5 of grade 0, 1 of grade 1, 1 of grade 2, 2 of grade 3",
        "facts: 6, with 0 other wordings",
        "Without --repo-manifest",
    ):
        assert part in shell.out
    assert shell("bank", "stats", files.bank, "--repo-manifest", files.manifest) == Exit.DONE
    assert "facts whose words all occur in a relevant module: 0 of 6" in shell.out
    assert (
        "q-two: gold_facts[1] stands in none of its relevant modules (nearest lacks no, stock)" in shell.out
    )
    assert shell("bank", "stats", files.bank, "--repo-manifest", files.manifest, "--json") == Exit.DONE
    told = json.loads(shell.out)
    assert told["grades"] == {"0": 5, "1": 1, "2": 1, "3": 2}
    assert [shape["shape"] for shape in told["shapes"]] == ["focused", "cross-file", "identity"]


def test_a_private_bank_is_described_without_its_words(shell: Shell, tmp_path: Path) -> None:
    files = Files(tmp_path, private=True)
    files.bank.write_bytes(document(QUERIES[0]))
    for more in ((), ("--json",)):
        assert shell("bank", "stats", files.bank, "--repo-manifest", files.manifest, *more) == Exit.DONE
        assert not any(word in shell.out for word in SECRET_WORDS if word != "q-one")


def test_a_template_is_filled_in_by_a_person_and_checked(shell: Shell, files: Files, tmp_path: Path) -> None:
    output = tmp_path / "new.json"
    words = ("--question", "How are prices summed?", "--id", "sums", "--shape", "cross-file")
    template = ["bank", "grade-template", "--repo-manifest", files.manifest, "--output", output]
    assert shell(*template, *words) == Exit.DONE
    assert shell.out == f"Wrote a question over 3 modules: {output}\n"
    assert f"boresight bank check {output} --repo-manifest {files.manifest}" in shell.err
    document_ = json.loads(output.read_bytes())
    (query,) = document_["queries"]
    assert query["relevance_grades"] == dict.fromkeys(MODULES, 0)
    assert (query["id"], query["shape"]) == ("sums", "cross-file")

    check = ["bank", "check", output, "--repo-manifest", files.manifest]
    assert shell(*check) == Exit.BAD_INPUT
    query["relevance_grades"]["shop/prices.py"] = 3
    query["gold_facts"] = ["sum_up takes items", "it returns 0"]
    output.write_text(json.dumps(document_))
    assert shell(*check) == Exit.DONE

    assert shell(*template, "--add") == Exit.DONE
    assert [query["id"] for query in json.loads(output.read_bytes())["queries"]] == ["sums", "question-1"]


def test_a_template_never_overwrites_and_leaves_nothing_where_it_fails(
    shell: Shell, files: Files, tmp_path: Path
) -> None:
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    template = ["bank", "grade-template", "--repo-manifest", files.manifest, "--output"]
    assert shell(*template, files.bank) == Exit.BAD_INPUT
    assert "never overwritten" in shell.err
    assert shell(*template, tmp_path / "new.json", "--id", "not an id") == Exit.BAD_INPUT
    assert shell(*template, tmp_path / "new.json", "--add") == Exit.BAD_INPUT
    assert shell(*template, files.bank, "--add", "--id", "q-one") == Exit.BAD_INPUT
    assert "give another --id" in shell.err
    assert shell(*template, files.manifest, "--add") == Exit.BAD_INPUT
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
