"""The inventory of hammers, saws and ladders, each with a label of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from toolshed.errors import Refused, UnknownItem
from toolshed.money import Money


@dataclass(frozen=True)
class Tool:
    """One physical object on a hook, with the deposit that its loan asks for."""

    label: str
    name: str
    category: str
    deposit: Money = Money(0)
    powered: bool = False
    retired: bool = False


class Catalogue:
    """All tools that the shed owns or ever owned, by label."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def __iter__(self) -> Iterator[Tool]:
        return iter(sorted(self._tools.values(), key=lambda tool: tool.label))

    def add(self, tool: Tool) -> None:
        """Hang a new tool on its hook."""
        if not tool.label.strip():
            raise ValueError("a tool needs a label before it can be shelved")
        if tool.label in self._tools:
            raise Refused("this label already hangs on another tool")
        self._tools[tool.label] = tool

    def find(self, label: str) -> Tool:
        """Look a tool up by the label that hangs on it."""
        try:
            return self._tools[label]
        except KeyError:
            raise UnknownItem("no tool in the shed carries this label") from None

    def retire(self, label: str) -> Tool:
        """Take a worn-out tool out of circulation but keep its history."""
        tool = replace(self.find(label), retired=True)
        self._tools[label] = tool
        return tool

    def search(self, words: str) -> list[Tool]:
        """Return the tools in circulation whose name or category holds every word, ignoring case."""
        wanted = words.casefold().split()
        return [
            tool
            for tool in self
            if not tool.retired and all(word in f"{tool.name} {tool.category}".casefold() for word in wanted)
        ]
