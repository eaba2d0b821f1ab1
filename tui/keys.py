"""Which keys a settings file can name, and which bindings it can give them to."""

from __future__ import annotations

import importlib
import pkgutil
import unicodedata
from collections.abc import Iterable

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys

_MODIFIERS = frozenset({"ctrl", "alt", "shift", "meta", "super", "hyper"})
_NAMED = frozenset(key.value for key in Keys)


def key_problem(keys: str) -> str | None:
    """Return why a list of keys, separated by commas, is none, or None where it is one."""
    for key in (part.strip() for part in keys.split(",")):
        if not is_key(key):
            return f'found {keys!r}, expected keys such as "R", "f6" or "ctrl+r", separated by commas'
    return None


def is_key(key: str) -> bool:
    """Tell whether a text names one key, with or without modifiers."""
    if key in _NAMED or (len(key) == 1 and key.isprintable() and not key.isspace()):
        return True
    *modifiers, last = key.split("+")
    if modifiers:
        return all(modifier in _MODIFIERS for modifier in modifiers) and is_key(last)
    return len(key) > 1 and _is_character(key)


def _is_character(name: str) -> bool:
    try:
        unicodedata.lookup(name.replace("_", " ").upper())
    except KeyError:
        return False
    return True


def binding_ids(app: type[App[int]]) -> dict[str, str]:
    """Return every binding that a settings file can name, by its id, with its description.

    Loads every screen, so call it from a thread.
    """
    import tui.screens as screens

    classes: set[type[DOMNode]] = {app}
    for module in pkgutil.iter_modules(screens.__path__, f"{screens.__name__}."):
        loaded = importlib.import_module(module.name)
        classes |= {
            value
            for value in vars(loaded).values()
            if isinstance(value, type) and issubclass(value, DOMNode) and value.__module__.startswith("tui.")
        }
    return {
        binding.id: binding.description
        for found in classes
        for binding in _bindings(found)
        if binding.id is not None
    }


def _bindings(node: type[DOMNode]) -> Iterable[Binding]:
    for base in node.__mro__:
        for entry in vars(base).get("BINDINGS", ()):
            if isinstance(entry, Binding):
                yield entry
