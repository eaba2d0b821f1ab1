"""Waiting for and reading the app's screens in tests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.pilot import Pilot

SIZES = [(80, 24), (160, 50)]


async def until(pilot: Pilot[Any], condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait until a condition holds; raises AssertionError with what the screen shows."""
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        await pilot.pause(0.05)
    raise AssertionError("waited in vain; the screen shows:\n" + shown(pilot.app))


def unwrapped(app: App[Any]) -> str:
    """Return the screen's text without spaces and frames, so that it reads the same wherever it wraps."""
    return re.sub(r"[\s█▌▐▊▎│]+", "", shown(app))


def shown(app: App[Any]) -> str:
    """Return the text on the screen."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())
