from __future__ import annotations

import pytest

from core.retrievers.protocol import Configuration

TEXT = b'size = 3\nmodel = "/home/me/model.onnx"\nlast = 1\n'
MOVED = Configuration("toml", TEXT, b'size = 3\nmodel = "{model}"\nlast = 1\n')


def test_a_configuration_is_governed_by_its_text_unless_told_otherwise() -> None:
    assert Configuration("json", b"{}").identity == b"{}"
    assert b"/home/me" not in MOVED.identity


def test_a_text_that_names_another_place_differs_by_place_alone() -> None:
    assert MOVED.differs_by_place(b'size = 3\nmodel = "/srv/model.onnx"\nlast = 1\n')


@pytest.mark.parametrize(
    "written",
    [
        b'size = 4\nmodel = "/home/me/model.onnx"\nlast = 1\n',
        b'size = 3\nmodels = "/srv/model.onnx"\nlast = 1\n',
        b'size = 3\nmodel = "/srv/model.onnx"\nlast = 1',
        b'size = 3\nmodel = "/srv/model.onnx"\nlast = 1\nmore = 2\n',
        b"",
    ],
)
def test_any_other_change_is_more_than_a_place(written: bytes) -> None:
    assert not MOVED.differs_by_place(written)


def test_a_configuration_without_places_differs_by_nothing_else() -> None:
    assert not Configuration("toml", TEXT).differs_by_place(TEXT + b"\n")
