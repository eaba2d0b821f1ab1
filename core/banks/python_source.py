"""Witnesses in Python source: names, docstring summaries and literal error messages."""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from core.banks.rules import ARCHITECTURE, ERROR, SYMBOL, TASK, FileWitnesses, Rule, UnparsableError, Witness
from core.text import printable

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Statements stand only in these fields, and definitions and raises are statements: nothing else is visited.
_BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.If: ("body", "orelse"),
    ast.For: ("body", "orelse"),
    ast.AsyncFor: ("body", "orelse"),
    ast.While: ("body", "orelse"),
    ast.With: ("body",),
    ast.AsyncWith: ("body",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.TryStar: ("body", "handlers", "orelse", "finalbody"),
    ast.ExceptHandler: ("body",),
    ast.Match: ("cases",),
    ast.match_case: ("body",),
}


Messages = dict[str, list[ast.Constant]]  # the literals of each message, which can be raised repeatedly


class Owner(NamedTuple):
    """A public definition with the messages that it raises itself."""

    definition: Definition
    messages: Messages


class Docstring(NamedTuple):
    """A docstring's literal, its first line once cleaned and stripped, and the cleaned lines after that."""

    literal: ast.Constant
    summary: str
    rest: tuple[str, ...]


def python_cases(source: bytes) -> FileWitnesses:
    """Return the witnesses of a Python file's raw bytes; raises UnparsableError.

    A coding cookie and a byte order mark count as Python counts them. Which sources parse depends on the
    version of the Python that runs.
    """
    tree = parse(source)
    found: list[Witness] = []
    short = _add_summary(found, ARCHITECTURE, tree, 0)
    for owner in owners(tree):
        line = owner.definition.lineno
        found.append(Witness(SYMBOL, owner.definition.name, line))
        short += _add_summary(found, TASK, owner.definition, line)
        for message in owner.messages:
            if len(message) >= ERROR.minimum:
                found.append(Witness(ERROR, message, line))
            else:
                short += 1
    return FileWitnesses(tuple(found), short)


def parse(source: bytes) -> ast.Module:
    """Parse a file's raw bytes in silence; raises UnparsableError, also for nesting too deep to hold."""
    # Python warns about such things as invalid escapes while it parses, and a filter set to `error`
    # would make them syntax errors.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except SyntaxError as error:
            where = f" at line {error.lineno}" if error.lineno else ""
            raise UnparsableError(f"{type(error).__name__}{where}: {printable(error.msg, 160)}") from None
        except ValueError as error:
            raise UnparsableError(f"ValueError: {printable(str(error), 160)}") from None
        except (RecursionError, MemoryError) as error:
            raise UnparsableError(f"{type(error).__name__}: nested too deeply") from None


def definitions(tree: ast.Module) -> dict[int, Definition]:
    """Return every definition by the line of its `def` or `class`."""
    return {node.lineno: node for node in _statements(tree) if isinstance(node, _DEFINITIONS)}


def owners(tree: ast.Module) -> list[Owner]:
    """Return every public definition with its messages."""
    found: list[Owner] = []
    stack: list[tuple[list[ast.stmt], Messages | None]] = [(tree.body, None)]
    while stack:
        block, messages = stack.pop()
        previous: ast.stmt | None = None
        for node in block:
            if isinstance(node, _DEFINITIONS):
                inner: Messages | None = None
                if not node.name.startswith("_"):
                    inner = {}
                    found.append(Owner(node, inner))
                stack.append((node.body, inner))
            elif isinstance(node, ast.Raise):
                if messages is not None:
                    _add_message(messages, node, previous)
            else:
                fields = _BLOCKS.get(type(node), ())
                stack += [(getattr(node, field), messages) for field in fields]
            previous = node
    return found


def docstring(node: ast.Module | Definition) -> Docstring | None:
    """Return the docstring of a module or definition; None where it has none."""
    literal = _docstring_literal(node)
    if literal is None:
        return None
    lines = inspect.cleandoc(str(literal.value)).splitlines()
    return Docstring(literal, _summary(str(literal.value)), tuple(lines[1:]))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    stack: list[list[ast.stmt]] = [tree.body]
    while stack:
        for node in stack.pop():
            yield node
            fields = ("body",) if isinstance(node, _DEFINITIONS) else _BLOCKS.get(type(node), ())
            stack += [getattr(node, field) for field in fields]


def _add_message(messages: Messages, node: ast.Raise, previous: ast.stmt | None) -> None:
    """Add the literal that a raise passes first, where it is a one-line literal."""
    if not isinstance(node.exc, ast.Call) or not node.exc.args:
        return
    argument = node.exc.args[0]
    if isinstance(argument, ast.Name) and isinstance(previous, ast.Assign):
        name = argument.id
        if any(isinstance(target, ast.Name) and target.id == name for target in previous.targets):
            argument = previous.value
    if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
        return
    message = argument.value.strip()
    if message and "\n" not in message:
        messages.setdefault(message, []).append(argument)


def _add_summary(found: list[Witness], rule: Rule, node: ast.Module | Definition, line: int) -> int:
    """Add the witness of a docstring; return 1 where there is one too short for it, else 0."""
    literal = _docstring_literal(node)
    if literal is None:
        return 0
    summary = _summary(str(literal.value))
    if len(summary) < rule.minimum:
        return 1
    found.append(Witness(rule, summary, line))
    return 0


def _docstring_literal(node: ast.Module | Definition) -> ast.Constant | None:
    first = node.body[0] if node.body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return None
    return first.value if isinstance(first.value.value, str) else None


def _summary(docstring: str) -> str:
    """Return the first line of a docstring once cleaned as `inspect.cleandoc` does, stripped."""
    # Cleaning changes nothing in a first line that begins with a visible character, but for its tabs.
    if docstring and not docstring[0].isspace():
        cleaned = docstring.partition("\n")[0].expandtabs()
    else:
        cleaned = inspect.cleandoc(docstring)
    lines = cleaned.splitlines()
    return lines[0].strip() if lines else ""
