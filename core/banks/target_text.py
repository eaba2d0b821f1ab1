"""The text that a target stands for, whole and without what a query was copied from."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from core.banks.markdown import headings, markdown_lines
from core.banks.python_source import Definition, Messages, definitions, docstring, owners, parse
from core.banks.rules import ARCHITECTURE, DOCS, ERROR, SYMBOL, TASK, Rule, UnparsableError
from core.ranking import Target


class SourceText:
    """One file's text, cut into what targets stand for; parsed once, when first needed."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def of(self, target: Target) -> str | None:
        """Return the definition, section or file that a target stands for; None where it is not there."""
        if target.kind == "file":
            return self._decoded(self._data)
        if target.kind == "documentation":
            section = self._section(target.line)
            return None if section is None else "\n".join(section)
        definition = self._definitions.get(target.line)
        return None if definition is None else _joined(self._rows(definition))

    def beyond(self, target: Target, rule: Rule, witness: str) -> str | None:
        """Return a target's text without its witness, the text that a rule took from it.

        Left out is the line of the `def` or `class`, the docstring's first line once cleaned, the line of
        the heading, or each literal of the message. None where the witness is not there.
        """
        if rule == DOCS:
            section = self._section(target.line) if target.kind == "documentation" else None
            return None if section is None else "\n".join(section[1:])
        if rule == ARCHITECTURE:
            return self._beyond_summary(self._tree, witness) if target.kind == "file" else None
        definition = self._definitions.get(target.line) if target.kind == "symbol" else None
        if definition is None:
            return None
        if rule == SYMBOL:
            return _joined(self._rows(definition)[1:]) if definition.name == witness else None
        if rule == TASK:
            return self._beyond_summary(definition, witness)
        literals = self._messages.get(target.line, {}).get(witness) if rule == ERROR else None
        return None if literals is None else _joined(_blanked(self._rows(definition), target.line, literals))

    def _beyond_summary(self, node: ast.Module | Definition | None, witness: str) -> str | None:
        found = None if node is None else docstring(node)
        if node is None or found is None or found.summary != witness:
            return None
        first = 1 if isinstance(node, ast.Module) else node.lineno
        rows = _blanked(self._rows(node), first, [found.literal])
        # The rest comes back from the cleaned text, as escapes and joined literals have lines of their own.
        return "\n".join([_joined(rows), *found.rest])

    @cached_property
    def _tree(self) -> ast.Module | None:
        try:
            return parse(self._data)
        except UnparsableError:
            return None

    @cached_property
    def _definitions(self) -> Mapping[int, Definition]:
        return {} if self._tree is None else definitions(self._tree)

    @cached_property
    def _messages(self) -> Mapping[int, Messages]:
        found = [] if self._tree is None else owners(self._tree)
        return {owner.definition.lineno: owner.messages for owner in found}

    @cached_property
    def _lines(self) -> Sequence[bytes]:
        # Bytes are cut where Python counts lines; text has more line ends, such as form feeds.
        return self._data.splitlines(keepends=True)

    def _rows(self, node: ast.Module | Definition) -> list[bytes]:
        """Return the lines of a node in UTF-8, whose bytes are what the columns of a tree count."""
        lines = self._lines
        if not isinstance(node, ast.Module):
            lines = lines[node.lineno - 1 : node.end_lineno]
        return [self._decoded(line).encode("utf-8", errors="replace") for line in lines]

    @cached_property
    def _encoding(self) -> str:
        try:
            return tokenize.detect_encoding(io.BytesIO(self._data).readline)[0]
        except (SyntaxError, ValueError):
            return "utf-8"

    def _decoded(self, data: bytes) -> str:
        """Decode Python source by the cookie or mark of its file, or anything else as UTF-8."""
        try:
            return data.decode(self._encoding, errors="replace")
        except (ValueError, LookupError):
            return data.decode("utf-8", errors="replace")

    def _section(self, line: int) -> list[str] | None:
        lines = markdown_lines(self._data)
        level = None
        for heading in headings(lines):
            if heading.line == line:
                level = heading.level
            elif level is not None and heading.level <= level:
                return lines[line - 1 : heading.line - 1]
        return None if level is None else lines[line - 1 :]


def _joined(rows: Iterable[bytes]) -> str:
    return b"".join(rows).decode("utf-8")


def _blanked(rows: Sequence[bytes], first: int, literals: Iterable[ast.Constant]) -> list[bytes]:
    """Return lines, numbered from `first`, with literals overwritten by as many spaces."""
    kept = list(rows)
    for literal in literals:
        last = literal.end_lineno or literal.lineno
        for number in range(literal.lineno, last + 1):
            row = kept[number - first]
            start = literal.col_offset if number == literal.lineno else 0
            end = literal.end_col_offset if number == last else len(row)
            end = len(row) if end is None else end
            kept[number - first] = row[:start] + b" " * (end - start) + row[end:]
    return kept
