"""A manifest names plain paths inside a run, each once; anything else is refused before it is used."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.archive.manifest import ArchivedFile, Manifest, decoded, encoded, parse_manifest
from core.errors import InputError

DIGEST = "ab" * 32


def value(files: list[str], folders: list[str] | None = None, **fields: Any) -> bytes:
    return json.dumps(
        {
            "format": "boresight-archive@1",
            "run": "run",
            "identity": DIGEST,
            "state": True,
            "folders": folders or [],
            "files": [{"path": path, "size": 1, "sha256": DIGEST} for path in files],
            **fields,
        }
    ).encode()


def test_a_manifest_reads_back() -> None:
    files = [ArchivedFile(path="a/b", size=3, sha256=DIGEST, executable=True)]
    manifest = Manifest(run="run", identity=DIGEST, state=False, folders=["a"], files=files)
    assert parse_manifest(manifest.encode(), "file") == manifest
    assert manifest.size == 3


@given(st.binary(min_size=1, max_size=30).filter(lambda raw: b"\0" not in raw))
def test_a_name_of_any_bytes_has_one_spelling(raw: bytes) -> None:
    import os

    name = os.fsdecode(raw)
    assert encoded(name).isascii()
    assert decoded(encoded(name)) == name


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "/etc/passwd",
        "a/../../x",
        "a//b",
        "",
        ".",
        "a/.",
        "a%00b",
        ".lock",
        ".control",
        "a%2Fb",
        "%61",
    ],
)
def test_a_path_that_is_none_inside_a_run_is_refused(path: str) -> None:
    with pytest.raises(InputError, match=r"no path inside a run|spelled in another way"):
        parse_manifest(value([path], ["a"]), "file")
    with pytest.raises(InputError, match=r"no path inside a run|spelled in another way"):
        parse_manifest(value([], ["a", path]), "file")


@pytest.mark.parametrize(
    ("files", "folders"), [(["a", "a"], []), ([], ["a", "a"]), (["a"], ["a"]), (["a", "a/b"], ["b"])]
)
def test_what_stands_twice_or_in_a_file_is_refused(files: list[str], folders: list[str]) -> None:
    with pytest.raises(InputError, match=r"twice|its folder is not listed"):
        parse_manifest(value(files, folders), "file")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        value([], format="boresight-archive@2"),
        value([], identity="x"),
        value([], more=1),
        value(["a" * 5000]),
    ],
)
def test_what_is_no_manifest_is_refused(raw: bytes) -> None:
    with pytest.raises(InputError, match="file"):
        parse_manifest(raw, "file")


def test_a_negative_size_is_refused() -> None:
    raw = value(["a"]).replace(b'"size": 1', b'"size": -1')
    with pytest.raises(InputError, match=r"files\[0\]\.size"):
        parse_manifest(raw, "file")
