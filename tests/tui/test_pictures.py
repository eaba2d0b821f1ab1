"""README's pictures are what the screens look like now."""

from __future__ import annotations

import re

import pytest

from tests.tui.pictures import PICTURES, ROOT, SHOWN, snapshot_of


@pytest.mark.parametrize("name", SHOWN)
def test_a_picture_is_the_approved_snapshot(name: str) -> None:
    picture = PICTURES / f"{name}.svg"
    remedy = "make it anew: python -m tests.tui.pictures"
    assert picture.read_bytes() == snapshot_of(name).read_bytes(), remedy


def test_readme_shows_every_picture_and_no_other() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    named = re.findall(r"docs/pictures/([a-z_]+)\.svg", readme)
    assert sorted(named) == sorted(SHOWN)
