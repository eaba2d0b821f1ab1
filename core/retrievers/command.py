"""A user's own tool, from the manifest alone: command templates, and a declaration of how its output reads.

    [[candidates]]
    id = "ripgrep"
    retriever = "command"
    config.query = ["rg", "--line-number", "--fixed-strings", "--", "{query}", "."]
    config.level = "exact"
    config.answer = { format = "lines", pattern = "{path}:{line}:{text}" }
    config.empty_exit_codes = [1]

Every field of `config` is described in `core.retrievers.declared.entry`; `docs/retrievers.md` has examples.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from core.canonical import canonical_json
from core.errors import InputError, ProblemsError
from core.ranking import Channel
from core.retrievers import answers
from core.retrievers.declared import counting, parts
from core.retrievers.declared.entry import EXAMPLE, CommandConfig, CommandEntry
from core.retrievers.declared.parsed import TEXT, ParsedConfig, contradictions
from core.retrievers.declared.templates import (
    CHANNEL,
    LIMIT,
    MANIFEST,
    QUERY,
    REPOSITORY,
    STATE,
    Template,
    Word,
    place_values,
)
from core.retrievers.protocol import (
    Answer,
    Completeness,
    Configuration,
    Context,
    Diagnosis,
    Features,
    Place,
    Step,
)
from core.retrievers.queries import as_argument, as_request, request_id
from core.text import printable
from core.validation import validated

__all__ = ["ENTRY", "EXAMPLE", "CommandRetriever", "create", "diagnose"]

ENTRY = CommandEntry


def diagnose() -> Diagnosis:
    """Tell that nothing is needed but the tools that a manifest names."""
    return Diagnosis("command", None, "whatever the manifest's own commands answer")


def create(entry: Mapping[str, Any], base: Path, name: str) -> CommandRetriever:
    """Return the retriever that an entry describes; raises ProblemsError. Nothing on disk is looked at."""
    parsed = validated(CommandEntry, dict(entry), name)
    problems = list(contradictions(parsed.config))
    retriever = None
    try:
        retriever = CommandRetriever(parsed.config, base)
    except ProblemsError as error:
        problems += error.problems
    if problems or retriever is None:
        raise ProblemsError(f"{printable(name)} is not valid:", problems)
    return retriever


class CommandRetriever:
    """Implements `core.retrievers.protocol.Retriever` with the commands of a manifest's entry."""

    def __init__(self, config: CommandConfig, base: Path) -> None:
        self._config = config
        self._base = base
        self._templates = ParsedConfig(config)
        self._answer = self._templates.answer
        self._context = self._templates.context

    @property
    def features(self) -> Features:
        """What this tool is declared to do."""
        config = self._config
        return Features(
            channels=frozenset(config.channels),
            probe=config.probe is not None or config.session_probe,
            session=config.session is not None,
            writes_repository=config.writes_repository,
            relocatable=config.relocatable or not config.index,
            level=config.level,
            indexes=bool(config.index),
        )

    def configuration(self) -> Configuration:
        """Return the entry's `config` as JSON, without the folders of absolute paths; no tool reads it."""
        return Configuration("json", canonical_json(self._portable) + b"\n")

    def fingerprint(self) -> Mapping[str, Any]:
        """Return digests of executables, of files that words and variables name and of assets, and versions.

        Raises InputError where one is missing, or a secret is not set, with what to do.
        """
        unset = [name for name in self._config.secrets if name not in os.environ]
        if unset:
            raise InputError(
                f"config.secrets: {', '.join(unset)} is not set here; set it before starting, or take it out"
            )
        commands = self._templates.commands
        assets = self._templates.assets
        found: dict[str, Any] = {
            "executables": parts.executables_fingerprint(commands, self._base),
            "files": parts.files_fingerprint(self._words(), assets, self._base),
            "verification": self._verification,
            "readers": self._templates.readers(),
        }
        if "version" in commands:
            environment = {
                name: word.filled({MANIFEST: str(self._base)})
                for name, word in self._templates.environment.items()
                if not (word.names(REPOSITORY) or word.names(STATE))
            }
            found["version"] = parts.version_text(commands["version"], environment, self._base)
        return found

    def index(self, place: Place) -> tuple[Step, ...]:
        """Return the steps that build the index, none where the tool has no index."""
        values = self._values(place)
        return tuple(self._step(template.filled(values), place) for template in self._templates.index)

    def query(self, place: Place, channel: Channel, text: str, limit: int) -> Step:
        """Return the command that answers one query; raises UnpassableError."""
        return self._question(self._templates.commands["query"], place, channel, text, limit)

    def probe(self, place: Place, text: str, limit: int) -> Step:
        """Return the command that prints context for one query; raises UnpassableError."""
        return self._question(self._templates.commands["probe"], place, None, text, limit)

    def session(self, place: Place) -> Step | None:
        """Return the command that starts a session, or None where the entry has one-shot commands."""
        template = self._templates.commands.get("session")
        return None if template is None else self._step(template.filled(self._values(place)), place)

    def request(self, kind: str, channel: Channel, text: str, limit: int) -> bytes:
        """Return the JSON line that asks a session; any text can be asked."""
        return as_request(kind, self._word_of(channel), text, limit)

    def is_answer_to(self, request: bytes, stdout: bytes) -> bool:
        """Tell whether the answer bears the request's id."""
        form = self._context if json.loads(request)["do"] == "probe" else self._answer
        found = answers.session_id(stdout) if form is None else form.session_id(stdout)
        return found == request_id(request)

    def read_index(self, stdout: bytes, place: Place) -> None:
        """Take whatever the index steps printed: that they ended well is judged by their exit."""

    def verify_index(self, place: Place) -> Completeness:
        """Count the index: by the tool's own command, by what it left, or the files where it has none.

        Raises AnswerError where it is empty or incomplete.
        """
        if not self._config.index:
            return counting.tracked_files(place)
        values = self._values(place)
        template = self._templates.commands.get("verify")
        if template is None:
            paths = [Path(word.filled(values)) for word in self._templates.index_paths]
            return counting.left_behind(place, paths)
        step = self._step(template.filled(values), place)
        return counting.verified(step.argv, step.environment, step.secrets, place, step.cwd)

    def read_ranking(self, stdout: bytes, place: Place, limit: int) -> Answer:
        """Read a query's output as the entry declares it; raises AnswerError.

        Of a tool that has an exit code for it, no output at all means that nothing was found.
        """
        if self._config.empty_exit_codes and not stdout.strip():
            return Answer(())
        if self._answer is None:
            return answers.read_ranking(stdout, limit)
        return self._answer.ranking(stdout, place.repository, limit)

    def read_context(self, stdout: bytes, place: Place, limit: int) -> Context:
        """Read a probe's output as the entry declares it; raises AnswerError."""
        if self._config.empty_exit_codes and not stdout.strip():
            return Context("", ())
        if self._config.context.format == TEXT:
            return Context(stdout.decode("utf-8", "replace"), ())
        if self._context is None:
            return answers.read_context(stdout, limit)
        return self._context.context(stdout, place.repository, limit)

    @property
    def _verification(self) -> str:
        """How an index is known to be complete, in words that are part of the identity."""
        if not self._config.index:
            return "no index: the files of the repository are counted"
        if self._config.verify is not None:
            return "the tool's own verification command"
        return "none: that the index commands ended well and left files is all that is known"

    @cached_property
    def _portable(self) -> dict[str, Any]:
        config = self._config.model_dump()
        for field in ("query", "session", "probe", "verify", "version"):
            if config[field] is not None:
                config[field] = [parts.shown_word(word) for word in self._templates.commands[field].words]
        config["index"] = [
            [parts.shown_word(word) for word in template.words] for template in self._templates.index
        ]
        config["assets"] = [parts.shown_word(word) for word in self._templates.assets]
        config["environment"] = {
            name: parts.shown_word(word) for name, word in self._templates.environment.items()
        }
        return config

    def _words(self) -> Iterator[Word]:
        """Yield the words that may name files beside executables: of commands, and of the environment."""
        for template in self._templates.commands.values():
            yield from template.words[1:]
        yield from self._templates.environment.values()

    def _question(
        self, template: Template, place: Place, channel: Channel | None, text: str, limit: int
    ) -> Step:
        values = {
            **self._values(place),
            QUERY: as_argument(text),
            LIMIT: str(limit),
            CHANNEL: self._word_of(channel) if channel else "ctx",
        }
        step = self._step(template.filled(values), place)
        return step._replace(empty_exit_codes=tuple(self._config.empty_exit_codes))

    def _word_of(self, channel: Channel) -> str:
        return self._config.channel_words.get(channel, channel)

    def _values(self, place: Place) -> dict[str, str]:
        return place_values(place, self._base)

    def _step(self, argv: tuple[str, ...], place: Place) -> Step:
        values = self._values(place)
        return Step(
            argv,
            cwd=place.repository if self._config.cwd == "repository" else place.state,
            environment={name: word.filled(values) for name, word in self._templates.environment.items()},
            secrets=tuple(self._config.secrets),
        )
