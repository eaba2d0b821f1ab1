"""The five rules of `known-target-v1`: what asks, in which words, and what answers."""

from __future__ import annotations

from typing import NamedTuple

from core.ranking import Channel, Kind


class Rule(NamedTuple):
    """How the cases of one intent are derived.

    `minimum` is the least number of characters of the text taken from the source, without `prefix`.
    """

    name: str
    intent: str
    channel: Channel
    kind: Kind
    prefix: str
    minimum: int


SYMBOL = Rule("python_definition", "symbol_lookup", "emb", "symbol", "", 1)
ARCHITECTURE = Rule(
    "module_docstring", "architecture_lookup", "emb", "file", "Where is this component defined: ", 15
)
TASK = Rule(
    "definition_docstring", "task_lookup", "emb", "symbol", "Where is this behavior implemented: ", 15
)
DOCS = Rule("markdown_heading", "docs_lookup", "docs", "documentation", "Documentation about ", 8)
ERROR = Rule("literal_raise", "error_or_trace_lookup", "emb", "symbol", "", 12)

RULES = {rule.intent: rule for rule in (SYMBOL, ARCHITECTURE, TASK, DOCS, ERROR)}


class Witness(NamedTuple):
    """A piece of source that a rule found: its text without the rule's prefix, and where it stands.

    `line` counts from 1; it is 0 for a whole file.
    """

    rule: Rule
    text: str
    line: int

    @property
    def query(self) -> str:
        """The question put to a retriever."""
        return self.rule.prefix + self.text


class FileWitnesses(NamedTuple):
    """All witnesses of one file, and how many texts were too short for their rule."""

    found: tuple[Witness, ...]
    short: int


class UnparsableError(Exception):
    """A file's source is not what this Python can parse; the message says why in a few words."""
