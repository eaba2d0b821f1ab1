import os
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from core.errors import InputError, ProblemsError
from core.validation import MAX_INPUT_BYTES, InputModel, explain, field_path, read_json_file, validated


class Limits(InputModel):
    seconds: float = Field(default=1.0, gt=0)
    retries: int = Field(default=0, ge=0, le=9)


class Candidate(InputModel):
    id: str = Field(pattern="^[a-z]+$")
    kind: Literal["dense", "sparse"] = "dense"
    limits: Limits | None = None


class Manifest(InputModel):
    schema_version: Literal[1]
    models: list[Candidate] = Field(min_length=1)


def problems(value: Any) -> tuple[str, ...]:
    with pytest.raises(ProblemsError) as caught:
        validated(Manifest, value, "models.json")
    assert str(caught.value).startswith("models.json is not valid:\n")
    return caught.value.problems


def manifest(**candidate: Any) -> dict[str, Any]:
    return {"schema_version": 1, "models": [{"id": "a", **candidate}]}


def test_a_valid_value_becomes_the_model() -> None:
    assert validated(Manifest, manifest(), "m").models[0] == Candidate(id="a")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"schema_version": 2, "models": [{"id": "a"}]}, "schema_version: found 2, expected 1"),
        ({"schema_version": 1, "models": []}, "models: found a list, expected at least 1 entries, not 0"),
        ({"schema_version": 1}, 'models: found nothing, expected a value; add "models"'),
        ({"schema_version": 1, "models": {}}, "models: found an object, expected a list"),
        (manifest(id=3), "models[0].id: found 3, expected text in quotes"),
        (manifest(id="A\x1b[31m"), 'models[0].id: found "A\\u001b[31m", expected text that matches ^[a-z]+$'),
        (manifest(kind="x"), "models[0].kind: found \"x\", expected 'dense' or 'sparse'"),
        (manifest(kid="x"), 'models[0].kid: unknown key; did you mean "kind"?'),
        (manifest(limits={"retrys": 1}), 'models[0].limits.retrys: unknown key; did you mean "retries"?'),
        (
            manifest(limits={"zz": 1}),
            "models[0].limits.zz: unknown key; remove it, as the known keys are retries, seconds",
        ),
        (manifest(limits={"seconds": 0}), "models[0].limits.seconds: found 0, expected more than 0.0"),
        (manifest(limits={"retries": 10}), "models[0].limits.retries: found 10, expected at most 9"),
        (manifest(limits={"retries": True}), "models[0].limits.retries: found true, expected a whole number"),
        (manifest(limits=3), "models[0].limits: found 3, expected an object"),
        ("x", 'the document: found "x", expected an object'),
    ],
)
def test_a_problem_names_field_found_and_expected(value: Any, message: str) -> None:
    assert problems(value) == (message,)


def test_every_problem_is_told_at_once() -> None:
    assert len(problems({"schema_version": 2, "models": [{"id": "A"}, {}]})) == 3


def test_very_many_problems_are_cut_and_counted() -> None:
    told = problems({"schema_version": 1, "models": [{"id": 1}] * 80})
    assert len(told) == 51
    assert told[-1] == "and 30 more"


def test_a_long_value_is_cut() -> None:
    assert len(problems(manifest(id="A" * 10_000))[0]) < 200


def test_without_the_model_an_unknown_key_is_still_named() -> None:
    with pytest.raises(ValidationError) as caught:
        Candidate.model_validate({"id": "a", "kid": "x"})
    assert explain(caught.value, "m").problems == ("kid: unknown key; remove it",)


def test_unknown_keys_of_a_tagged_union_are_suggested_from_the_tagged_model() -> None:
    class Cat(InputModel):
        type: Literal["cat"]
        whiskers: int = 1

    class Dog(InputModel):
        type: Literal["dog"]
        tricks: int = 1

    class House(InputModel):
        pet: Annotated[Cat | Dog, Field(discriminator="type")]

    with pytest.raises(ProblemsError, match=r'pet\.cat\.wiskers: unknown key; did you mean "whiskers"'):
        validated(House, {"pet": {"type": "cat", "wiskers": 2}}, "house")


def test_every_pydantic_error_type_of_plain_fields_gives_a_message() -> None:
    adapters: list[tuple[Any, Any]] = [
        (int, "x"),
        (bool, 3),
        (bytes, 3),
        (dict[str, int], 1),
        (set[int], "a"),
    ]

    for kind, value in adapters:

        class Holder(BaseModel):
            field: kind  # type: ignore[valid-type]

        with pytest.raises(ProblemsError, match=r"field: found .*, expected "):
            validated(Holder, {"field": value}, "holder")


def test_field_paths_read_as_people_write_them() -> None:
    assert field_path(("a", 0, "b")) == "a[0].b"
    assert field_path(()) == "the document"


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_json_file(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty, expected JSON"),
        (b" \n", "empty, expected JSON"),
        (b'{"a":\n 1,}', "line 2, column 4: not valid JSON"),
        (b'{"a": 1, "a": 2}', "not valid JSON: duplicate key 'a'"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{\n"a": "\xff"}', "line 2: found the byte 0xff at offset 8, expected UTF-8"),
        (b"\xef\xbb\xbf{}", "begins with a byte order mark"),
        (b"[" * 200_000, "nested too deeply"),
        (b"1" * 5000, "not valid JSON: Exceeds the limit"),
    ],
)
def test_bad_json_is_refused_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(content)
    assert message in refused(path)


def test_good_json_is_read(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes('{"a": ["ü", 1]}\r\n'.encode())
    assert read_json_file(path) == {"a": ["ü", 1]}


def test_what_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    assert "there is no such file" in refused(tmp_path / "missing.json")
    assert "found a directory" in refused(tmp_path)
    with pytest.raises(InputError, match="NUL"):
        read_json_file(Path("a\0b"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(b"{}")
    path.chmod(0)
    assert "not readable by this user" in refused(path)


def test_a_huge_file_is_refused_without_parsing(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    with open(path, "wb") as stream:
        stream.truncate(MAX_INPUT_BYTES + 1)
    assert "larger than 64 MiB" in refused(path)
