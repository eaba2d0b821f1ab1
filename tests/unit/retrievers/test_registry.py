from __future__ import annotations

from core.retrievers.registry import retriever_names, source_files


def test_helpers_of_a_retriever_are_no_retrievers() -> None:
    assert {"codira", "embedded"} <= set(retriever_names())
    assert not [name for name in retriever_names() if name.startswith("codira_")]


def test_the_sources_of_a_retriever_are_all_that_it_imports_of_its_package() -> None:
    codira = [path.name for path in source_files({})]
    assert codira == [path.name for path in source_files({"retriever": "codira"})]
    assert {"codira.py", "codira_answers.py", "codira_index.py", "answers.py"} <= set(codira)
    embedded = [path.name for path in source_files({"retriever": "embedded"})]
    assert "embedded.py" in embedded
    assert "codira.py" not in embedded
    replay = [path.name for path in source_files({"retriever": "replay"})]
    assert {"replay.py", "trec_run.py", "finished_run.py", "docno.py"} <= set(replay)
