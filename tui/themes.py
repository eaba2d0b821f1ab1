"""Three themes of our own; whatever colour says, a mark or a word says too."""

from __future__ import annotations

from rich.color import Color
from rich.terminal_theme import TerminalTheme
from textual.theme import Theme

DARK, LIGHT, COLOUR_BLIND = "boresight-dark", "boresight-light", "boresight-colour-blind"

THEMES = (
    Theme(
        name=DARK,
        primary="#5aa9e6",
        secondary="#3d6f99",
        accent="#7fc8a9",
        warning="#e6b450",
        error="#e06c75",
        success="#8fbf6a",
        foreground="#d8dee4",
        background="#12161b",
        surface="#181d23",
        panel="#232a32",
        dark=True,
    ),
    Theme(
        name=LIGHT,
        primary="#1f5f99",
        secondary="#5b7f9f",
        accent="#1b7a5a",
        warning="#8a5a00",
        error="#b3261e",
        success="#2f6b1f",
        foreground="#1c2126",
        background="#f6f7f8",
        surface="#eceff1",
        panel="#dde3e8",
        dark=False,
        variables={"footer-key-foreground": "#1f5f99"},
    ),
    # Okabe and Ito, "Color Universal Design" (2008): told apart with every common colour deficiency.
    Theme(
        name=COLOUR_BLIND,
        primary="#56b4e9",
        secondary="#0072b2",
        accent="#f0e442",
        warning="#e69f00",
        error="#d55e00",
        success="#009e73",
        foreground="#eeeeee",
        background="#101010",
        surface="#191919",
        panel="#262626",
        dark=True,
    ),
)


def ansi_colours(theme: Theme) -> TerminalTheme:
    """Return what Rich's `green`, `red`, `yellow` and so on are drawn as: colours of one of our themes."""
    ground, ink = _rgb(theme.background), _rgb(theme.foreground)
    named = (theme.error, theme.success, theme.warning, theme.primary, theme.secondary, theme.accent)
    return TerminalTheme(ground, ink, [ground, *map(_rgb, named), ink])


def _rgb(colour: str | None) -> tuple[int, int, int]:
    red, green, blue = Color.parse(colour or "#000000").get_truecolor()
    return red, green, blue
