"""Units of a Python file: every definition, and the module itself."""

from __future__ import annotations

import ast
import codecs
import io
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from core.workspace.units import Unit

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class PythonFile(NamedTuple):
    """A file's units, the module first and then its definitions by line, and whether it parsed."""

    units: list[Unit]
    parsed: bool


def python_units(path: str, data: bytes, limit: int) -> PythonFile:
    """Return the units of a Python file; one that does not parse yields its module from its text alone."""
    text = python_text(data)
    lines = text.split("\n")
    tree = _parse(data)
    if tree is None:
        return PythonFile([_module(path, lines, None, limit)], parsed=False)
    definitions = [
        _definition(path, lines, node, scope, limit)
        for node, scope in sorted(
            _definitions(tree), key=lambda found: (found[0].lineno, found[0].col_offset)
        )
    ]
    return PythonFile([_module(path, lines, tree, limit), *definitions], parsed=True)


def python_text(data: bytes) -> str:
    """Decode as Python would, replacing what it could not, and with a line feed for every line end."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = codecs.decode(data, encoding)
    except (SyntaxError, LookupError, ValueError):
        text = data.decode("utf-8-sig", "replace")
    # Some codecs that a file may name decode to what UTF-8 cannot hold.
    text = str(text).encode("utf-8", "replace").decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parse(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError):
        return None


def _definitions(tree: ast.Module) -> Iterator[tuple[Definition, str]]:
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, scope = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Definition):
                yield child, scope
                waiting.append((child, f"{scope}.{child.name}" if scope else child.name))
            else:
                waiting.append((child, scope))


def _definition(path: str, lines: list[str], node: Definition, scope: str, limit: int) -> Unit:
    end = node.end_lineno or node.lineno
    summary = ast.get_docstring(node) or ""
    return Unit(
        channel="emb",
        kind="symbol",
        path=path,
        line=node.lineno,
        end_line=end,
        name=node.name[:limit],
        scope=scope[:limit],
        summary=_whole(summary)[:limit],
        source="\n".join(lines[node.lineno - 1 : end])[:limit],
        rest=_without_docstring(lines, node, node.lineno, end)[:limit],
    )


def _module(path: str, lines: list[str], tree: ast.Module | None, limit: int) -> Unit:
    place = PurePosixPath(path)
    package = place.stem == "__init__" and place.parent.name
    summary = (ast.get_docstring(tree) if tree is not None else None) or ""
    source = "\n".join(lines)
    return Unit(
        channel="emb",
        kind="file",
        path=path,
        line=None,
        end_line=None,
        name=package or place.stem,
        scope="",
        summary=_whole(summary)[:limit],
        source=source[:limit],
        rest=(_without_docstring(lines, tree, 1, len(lines)) if tree is not None else source)[:limit],
    )


def _without_docstring(lines: list[str], node: Definition | ast.Module, start: int, end: int) -> str:
    """Return lines `start` to `end` without those of the docstring, unless it shares the first line."""
    kept = lines[start - 1 : end]
    if ast.get_docstring(node, clean=False) is not None:
        docstring = node.body[0]
        if docstring.lineno > start or isinstance(node, ast.Module):
            last = docstring.end_lineno or docstring.lineno
            kept = lines[start - 1 : docstring.lineno - 1] + lines[last:end]
    return "\n".join(kept)


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
