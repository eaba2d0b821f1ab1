"""A declared tool's config, taken apart and checked: every problem is told at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from core.errors import ProblemsError
from core.retrievers.answers import CONTEXT_FORMAT, RANKING_FORMAT
from core.retrievers.declared.entry import CommandConfig
from core.retrievers.declared.forms import Form
from core.retrievers.declared.templates import (
    MANIFEST,
    PLACES,
    QUERY,
    QUESTIONS,
    Template,
    Word,
    parse_template,
    parse_word,
)
from core.text import printable

TEXT = "text"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_OURS = ("HOME", "TMPDIR")
_NEEDED = {"exact": ("line",), "span": ("line", "end_line"), "file": ()}


class ParsedConfig:
    """An entry's templates and forms, taken apart; raises ProblemsError that names every bad one."""

    def __init__(self, config: CommandConfig) -> None:
        self._problems: list[str] = []
        self.index = tuple(
            self._template(argv, PLACES, f"index[{number}]") for number, argv in enumerate(config.index)
        )
        self.commands: dict[str, Template] = {
            f"index[{number}]": template for number, template in enumerate(self.index)
        }
        known = {"query": QUESTIONS, "probe": QUESTIONS, "session": PLACES, "verify": PLACES}
        for field, placeholders in {**known, "version": (MANIFEST,)}.items():
            argv = getattr(config, field)
            if argv is not None:
                self.commands[field] = self._template(argv, placeholders, field)
        self.index_paths = self._words(config.index_paths, PLACES, "index_paths")
        self.assets = self._words(config.assets, (MANIFEST,), "assets")
        self.environment = {
            name: word
            for name, value in config.environment.items()
            for word in self._words([value], PLACES, f"environment.{name}", numbered=False)
        }
        self.answer = self._form(config, "answer", RANKING_FORMAT)
        self.context = self._form(config, "context", CONTEXT_FORMAT)
        for field in ("query", "probe"):
            template = self.commands.get(field)
            if template and template.words and not template.names(QUERY):
                self._problems.append(
                    f"config.{field}: found no {{query}}, without which it cannot be asked; add it as a word"
                )
        if self._problems:
            raise ProblemsError("config is not valid:", self._problems)

    def readers(self) -> dict[str, str]:
        """Return the versions of the libraries that take part in reading what the tool prints."""
        forms = [form for form in (self.answer, self.context) if form is not None]
        return {"jmespath": version("jmespath")} if any(form.uses_jmespath for form in forms) else {}

    def _template(self, argv: Sequence[str], known: Sequence[str], field: str) -> Template:
        try:
            template = parse_template(argv, known, f"config.{field}")
        except ProblemsError as error:
            self._problems += error.problems
            return Template(())
        first = template.words[0]
        text = "".join(part for part, is_name in first.parts if not is_name)
        if not text or any(is_name and part != MANIFEST for part, is_name in first.parts):
            self._problems.append(
                f"config.{field}[0]: expected an executable's name, or {{manifest}}/its-path"
            )
        elif "/" in text and not (text.startswith("/") or first.parts[0] == (MANIFEST, True)):
            self._problems.append(
                f"config.{field}[0]: found the relative path {printable(text, 60)!r}, expected a bare name "
                "that is searched in PATH, {manifest}/… or an absolute path"
            )
        return template

    def _words(
        self, values: Sequence[str], known: Sequence[str], field: str, *, numbered: bool = True
    ) -> tuple[Word, ...]:
        words = []
        for number, value in enumerate(values):
            place = f"config.{field}[{number}]" if numbered else f"config.{field}"
            try:
                words.append(parse_word(value, known, place))
            except ProblemsError as error:
                self._problems += error.problems
        return tuple(words)

    def _form(self, config: CommandConfig, field: str, own: str) -> Form | None:
        """Return a declared form, None for Boresight's own and for plain text."""
        mapped = getattr(config, field)
        form = None
        try:
            form = Form(mapped, mapped.format, f"config.{field}")
        except ProblemsError as error:
            self._problems += error.problems
        if mapped.format in (own, TEXT) or form is None:
            return None
        if field == "answer":
            self._problems += [
                f"config.level: found {config.level!r}, but config.answer tells no {name} of a result; "
                "add it, or set a coarser level"
                for name in _NEEDED[config.level]
                if name not in form.fields
            ]
        return form


def contradictions(config: CommandConfig) -> Iterator[str]:
    """Yield what the parts of a config say against each other."""
    if (config.query is None) == (config.session is None):
        found = "neither query nor session" if config.query is None else "both query and session"
        yield f"config: found {found}, expected one of them: commands for each query, or one process for all"
    if config.probe is not None and config.query is None:
        yield "config.probe: goes with query; for a session set session_probe = true"
    if config.session_probe and config.session is None:
        yield "config.session_probe: goes with session; without one, probe is a command"
    if config.session is not None and config.empty_exit_codes:
        yield "config.empty_exit_codes: a session does not exit after an answer; it answers with no results"
    if not config.index:
        for name in ("verify", "index_paths"):
            if getattr(config, name):
                yield f"config.{name}: there is no index to look at; add index, or take this out"
    elif config.writes_repository and config.verify is None and not config.index_paths:
        yield (
            "config.writes_repository: an index cannot be told from the repository's own files; "
            "add verify, or index_paths such as {repository}/.tool/index"
        )
    if config.secrets and config.environment.keys() & {*config.secrets}:
        yield "config.secrets: a variable stands in environment too, whose values are kept; take it out there"
    for field, names in (("environment", config.environment), ("secrets", config.secrets)):
        for name in names:
            if not _VARIABLE.match(name):
                yield f"config.{field}: {printable(name, 60)!r} is no name of a variable"
            elif name in _OURS:
                yield f"config.{field}: {name} is set by Boresight, to folders of the cell; take it out"
    if "PATH" in config.environment:
        yield (
            "config.environment: PATH decides which executables run, and they are found and fingerprinted in "
            "the PATH that Boresight is started with; set it there, or name executables by {manifest}/… or "
            "an absolute path"
        )
    if len({*config.channels}) < len(config.channels):
        yield "config.channels: found a channel twice; take one out"
    for name, value in config.environment.items():
        if "\0" in value:
            yield f"config.environment.{printable(name, 60)}: holds a NUL, which no variable can"
