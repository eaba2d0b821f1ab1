from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError, ProblemsError
from core.retrievers.command import EXAMPLE, CommandRetriever, create, diagnose
from core.retrievers.protocol import AnswerError, Place, Retriever, UnpassableError
from core.retrievers.registry import create_retriever, retriever_names

PLACE = Place(Path("/run/repositories/store"), Path("/run/state/tool/store"), Path("/run/configs/tool.json"))


def entry(**config: Any) -> dict[str, Any]:
    config = {"query": ["find", "--", "{query}"], "level": "exact", **config}
    config = {name: value for name, value in config.items() if value is not None}
    return {"id": "tool", "retriever": "command", "config": config}


def made(base: Path = Path("/manifests"), **config: Any) -> CommandRetriever:
    return create(entry(**config), base, "campaign.toml, candidates[0]")


def script(path: Path, text: str = "#!/bin/sh\necho 1.0\n") -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_it_is_found_by_its_name_and_its_example_is_valid() -> None:
    assert "command" in retriever_names()
    assert isinstance(create_retriever(EXAMPLE, Path("/"), "example"), Retriever)
    assert diagnose().is_ready


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"query": None}, "found neither query nor session"),
        ({"session": ["serve"]}, "found both query and session"),
        ({"query": ["find"]}, "config.query: found no {query}"),
        ({"query": []}, "config.query: found a list, expected at least 1 entries"),
        (
            {"query": ["find", "{quary}"]},
            "config.query[1]: found the placeholder {quary}, did you mean {query}?",
        ),
        ({"query": ["{query}"]}, "config.query[0]: expected an executable's name"),
        ({"query": ["./find", "{query}"]}, "config.query[0]: found the relative path './find'"),
        ({"index": [["build", "{query}"]]}, "config.index[0][1]: found the placeholder {query}"),
        ({"version": ["find", "{state}"]}, "config.version[1]: found the placeholder {state}"),
        ({"probe": ["find"]}, "config.probe: found no {query}"),
        ({"query": None, "session": ["s"], "probe": ["p", "{query}"]}, "config.probe: goes with query"),
        ({"session_probe": True}, "config.session_probe: goes with session"),
        ({"query": None, "session": ["s"], "empty_exit_codes": [1]}, "config.empty_exit_codes: a session"),
        ({"verify": ["count"]}, "config.verify: there is no index to look at"),
        ({"index_paths": ["{state}/x"]}, "config.index_paths: there is no index to look at"),
        (
            {"index": [["build"]], "writes_repository": True},
            "config.writes_repository: an index cannot be told",
        ),
        ({"level": None}, "config.level: found nothing"),
        ({"level": "line"}, "config.level: found"),
        ({"level": "span", "answer": {"format": "lines", "pattern": "{path}:{line}"}}, "tells no end_line"),
        ({"level": "exact", "answer": {"format": "json", "path": "p"}}, "tells no line of a result"),
        ({"answer": {"format": "xml"}}, "config.answer.format: found"),
        ({"answer": {"format": "json", "path": "p[["}}, "config.answer.path: 'p[[' is no JMESPath"),
        ({"context": {"format": "lines"}}, "config.context.pattern: found nothing"),
        ({"channels": []}, "config.channels: found a list"),
        ({"channels": ["emb", "emb"]}, "config.channels: found a channel twice"),
        ({"channels": ["code"]}, "config.channels[0]: found"),
        ({"empty_exit_codes": [0]}, "config.empty_exit_codes[0]: found 0"),
        ({"environment": {"A B": "x"}}, "config.environment: 'A B' is no name"),
        ({"environment": {"HOME": "/x"}}, "config.environment: HOME is set by Boresight"),
        ({"environment": {"PATH": "/x"}}, "config.environment: PATH decides which executables run"),
        ({"environment": {"A": "{query}"}}, "config.environment.A: found the placeholder {query}"),
        ({"environment": {"A": "\0"}}, "config.environment.A: holds a NUL"),
        (
            {"secrets": ["A"], "environment": {"A": "x"}},
            "config.secrets: a variable stands in environment too",
        ),
        ({"secrets": ["A=b"]}, "config.secrets: 'A=b' is no name"),
        ({"colour": "red"}, "config.colour: unknown key"),
    ],
)
def test_a_bad_entry_names_the_field(config: dict[str, Any], told: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        made(**config)
    assert told in str(caught.value)
    assert "campaign.toml, candidates[0]" in str(caught.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ProblemsError) as caught:
        made(query=["find", "{a}"], index=[["b", "{c}"]], secrets=["-"])
    assert len(caught.value.problems) == 3


def test_a_query_is_one_word_of_the_command() -> None:
    step = made(
        query=[
            "{manifest}/find",
            "-n",
            "{limit}",
            "--in={repository}",
            "--index={state}/db",
            "{channel}",
            "--",
            "{query}",
        ],
        environment={"CACHE": "{state}/cache"},
        secrets=["KEY"],
        empty_exit_codes=[1],
    ).query(PLACE, "docs", "--help; $(rm) {limit}\n'\"", 7)
    assert step.argv == (
        *("/manifests/find", "-n", "7", "--in=/run/repositories/store", "--index=/run/state/tool/store/db"),
        *("docs", "--", "--help; $(rm) {limit}\n'\""),
    )
    assert step.cwd == PLACE.repository
    assert step.environment == {"CACHE": "/run/state/tool/store/cache"}
    assert (step.secrets, step.empty_exit_codes) == (("KEY",), (1,))


def test_it_may_run_in_its_state_and_have_words_of_its_own_for_channels() -> None:
    step = made(query=["find", "{channel}", "{query}"], cwd="state", channel_words={"emb": "code"}).query(
        PLACE, "emb", "x", 5
    )
    assert step.argv[1] == "code" and step.cwd == PLACE.state


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x" * 200_000])
def test_what_no_argument_can_hold_cannot_be_passed(text: str) -> None:
    with pytest.raises(UnpassableError):
        made().query(PLACE, "emb", text, 5)


def test_a_session_is_asked_in_json_lines() -> None:
    tool = made(query=None, session=["serve", "{repository}"], session_probe=True)
    assert tool.features.session and tool.features.probe
    step = tool.session(PLACE)
    assert step is not None and step.argv == ("serve", "/run/repositories/store")
    request = tool.request("query", "emb", "größe\0", 5)
    question = json.loads(request)
    assert request.isascii() and request == tool.request("query", "emb", "größe\0", 5)
    assert (question["do"], question["text"], question["limit"]) == ("query", "größe\0", 5)
    assert tool.is_answer_to(request, json.dumps({"id": question["id"]}).encode())
    assert not tool.is_answer_to(request, b'{"id": "another"}')


def test_a_session_of_another_form_tells_its_request_where_the_entry_says() -> None:
    tool = made(
        query=None,
        session=["serve"],
        level="file",
        answer={"format": "json", "path": "p", "rows": "r", "id": "of"},
    )
    request = tool.request("query", "emb", "x", 5)
    assert tool.is_answer_to(request, json.dumps({"of": json.loads(request)["id"], "r": []}).encode())


def test_features_are_as_declared() -> None:
    plain = made().features
    assert (plain.indexes, plain.executes, plain.probe, plain.session) == (False, True, False, False)
    assert plain.relocatable  # without an index nothing lies anywhere
    full = made(
        index=[["build"]],
        probe=["p", "{query}"],
        channels=["docs"],
        writes_repository=True,
        index_paths=["{state}/x"],
    ).features
    assert (full.indexes, full.probe, full.writes_repository, full.relocatable) == (True, True, True, False)
    assert full.channels == {"docs"}


def test_an_answer_in_boresights_own_form_is_read() -> None:
    output = b'{"format": "boresight-ranking@1", "results": [{"path": "a.py", "line": 3}]}'
    assert made().read_ranking(output, PLACE, 5).ranking[0].path == "a.py"
    with pytest.raises(AnswerError):
        made().read_ranking(output.replace(b"ranking", b"context"), PLACE, 5)


def test_no_output_is_an_empty_ranking_only_of_a_tool_that_has_an_exit_code_for_it() -> None:
    assert made(empty_exit_codes=[1]).read_ranking(b"", PLACE, 5).ranking == ()
    with pytest.raises(AnswerError) as caught:
        made().read_ranking(b"", PLACE, 5)
    assert caught.value.kind == "empty_output"


def test_all_of_a_probes_output_may_be_the_context() -> None:
    tool = made(probe=["p", "{query}"], context={"format": "text"})
    assert tool.read_context(b"def a(): ...\xff\n", PLACE, 5).text == "def a(): ...\ufffd\n"


def test_no_path_of_this_machine_is_part_of_the_identity(tmp_path: Path) -> None:
    identities = set()
    for name in ("here", "there"):
        base = tmp_path / name
        base.mkdir()
        script(base / "tool")
        (base / "model.bin").write_bytes(b"weights")
        tool = made(
            base,
            query=[str(base / "tool"), "{query}"],
            version=["{manifest}/tool"],
            assets=["{manifest}/model.bin"],
            environment={"MODEL": str(base / "model.bin")},
        )
        identities.add(tool.configuration().identity + json.dumps(dict(tool.fingerprint())).encode())
    assert len(identities) == 1
    assert str(tmp_path).encode() not in identities.pop()


def test_what_answers_depend_on_is_in_the_fingerprint(tmp_path: Path) -> None:
    script(tmp_path / "tool")
    (tmp_path / "rules.txt").write_text("a")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_text("a")

    def found() -> str:
        tool = made(
            tmp_path,
            query=["{manifest}/tool", "{manifest}/rules.txt", "{query}"],
            version=["{manifest}/tool", "--version"],
            assets=["{manifest}/model"],
        )
        return json.dumps(dict(tool.fingerprint()), sort_keys=True)

    first = found()
    assert '"version": "1.0"' in first
    seen = {first}
    script(tmp_path / "tool", "#!/bin/sh\necho 1.0 # changed\n")
    seen.add(found())
    (tmp_path / "rules.txt").write_text("b")
    seen.add(found())
    (tmp_path / "model" / "weights").write_text("b")
    seen.add(found())
    assert len(seen) == 4


def test_a_file_named_by_an_option_or_a_variable_is_in_the_fingerprint(tmp_path: Path) -> None:
    script(tmp_path / "tool")
    model = tmp_path / "model.bin"

    def found(**config: Any) -> tuple[bytes, str]:
        tool = made(tmp_path, **config)
        return tool.configuration().identity, json.dumps(dict(tool.fingerprint()), sort_keys=True)

    for named in (str(model), "{manifest}/model.bin"):
        option = {"query": ["{manifest}/tool", f"--model={named}", "{query}"]}
        variable = {"query": ["{manifest}/tool", "{query}"], "environment": {"MODEL": named}}
        for config in (option, variable):
            model.write_bytes(b"a")
            before = found(**config)
            assert str(tmp_path) not in f"{before}"
            model.write_bytes(b"b")
            assert found(**config) != before


def test_two_of_one_name_do_not_hide_each_other(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        script(tmp_path / folder / "tool")
        (tmp_path / folder / "rules").write_text("same")
    index = [str(tmp_path / "a" / "tool"), str(tmp_path / "a" / "rules")]
    query = [str(tmp_path / "b" / "tool"), str(tmp_path / "b" / "rules"), "{query}"]

    def found() -> str:
        return json.dumps(dict(made(tmp_path, index=[index], query=query).fingerprint()))

    seen = {found()}
    script(tmp_path / "b" / "tool", "#!/bin/sh\necho 2.0\n")
    seen.add(found())
    (tmp_path / "b" / "rules").write_text("other")
    seen.add(found())
    assert len(seen) == 3


def test_several_paths_in_one_variable_are_kept_as_they_are() -> None:
    environment = {"PLUGINS": "/opt/one:/opt/two"}
    assert b"/opt/one:/opt/two" in made(environment=environment).configuration().identity


def test_the_library_that_reads_a_tools_own_json_is_in_the_fingerprint(tmp_path: Path) -> None:
    script(tmp_path / "tool")
    query = ["{manifest}/tool", "{query}"]
    own = {"format": "json", "rows": "hits", "path": "file", "line": "at"}
    assert "jmespath" in made(tmp_path, query=query, answer=own).fingerprint()["readers"]
    assert made(tmp_path, query=query).fingerprint()["readers"] == {}


def test_an_interpreters_packages_are_in_the_fingerprint() -> None:
    found = made(query=["python3", "-c", "", "{query}"]).fingerprint()
    assert "distributions" in found["executables"]["python3"]


def test_how_an_index_is_known_to_be_whole_is_part_of_the_identity(tmp_path: Path) -> None:
    script(tmp_path / "tool")
    tool: dict[str, Any] = {"query": ["{manifest}/tool", "{query}"]}
    index = {**tool, "index": [["{manifest}/tool"]]}
    told = [
        made(tmp_path, **config).fingerprint()["verification"]
        for config in (tool, index, {**index, "verify": ["{manifest}/tool"]})
    ]
    assert [words.split(":")[0] for words in told] == [
        "no index",
        "none",
        "the tool's own verification command",
    ]


def test_missing_executables_are_all_named_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as caught:
        made(tmp_path, query=["no-such-tool", "{query}"], index=[["{manifest}/gone"]]).fingerprint()
    told = str(caught.value)
    assert "config.query[0]: no executable 'no-such-tool' is in PATH" in told
    assert "config.index[0][0]" in told and "there is no such file" in told


def test_a_script_whose_interpreter_is_gone_is_named_with_its_field(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/no/such/python3\n")
    (tmp_path / "tool").chmod(0o755)
    with pytest.raises(ProblemsError, match=r"config\.query\[0\]: .*its interpreter /no/such/python3 is"):
        made(tmp_path, query=["{manifest}/tool", "{query}"]).fingerprint()


def test_a_file_that_may_not_be_executed_is_named(tmp_path: Path) -> None:
    script(tmp_path / "tool").chmod(stat.S_IRUSR)
    with pytest.raises(ProblemsError, match="not executable by this user"):
        made(tmp_path, query=["{manifest}/tool", "{query}"]).fingerprint()


def test_a_version_command_that_fails_is_named(tmp_path: Path) -> None:
    script(tmp_path / "tool", "#!/bin/sh\necho 'bad flag' >&2; exit 3\n")
    with pytest.raises(InputError, match=r"config\.version: .* exited with status 3 and said: bad flag"):
        made(tmp_path, query=["{manifest}/tool", "{query}"], version=["{manifest}/tool"]).fingerprint()


def test_an_asset_that_is_missing_is_named(tmp_path: Path) -> None:
    script(tmp_path / "tool")
    with pytest.raises(InputError, match=r"config\.assets\[0\]"):
        made(tmp_path, query=["{manifest}/tool", "{query}"], assets=["{manifest}/m"]).fingerprint()


def test_a_secret_that_is_not_set_is_named_and_its_value_is_kept_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "tool")
    tool = made(tmp_path, query=["{manifest}/tool", "{query}"], secrets=["TOOL_KEY"])
    monkeypatch.delenv("TOOL_KEY", raising=False)
    with pytest.raises(InputError, match="TOOL_KEY is not set here"):
        tool.fingerprint()
    monkeypatch.setenv("TOOL_KEY", "hunter2")
    kept = json.dumps(dict(tool.fingerprint())).encode() + tool.configuration().text
    assert b"TOOL_KEY" in kept and b"hunter2" not in kept
