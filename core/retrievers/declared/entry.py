"""What a manifest's entry for a declared tool may hold; see `docs/retrievers.md` for examples."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from core.ranking import CHANNELS, Channel, Kind, Level
from core.validation import InputModel

Argv = Annotated[list[str], Field(min_length=1)]
Expression = Annotated[str, Field(min_length=1)]
ExitCode = Annotated[int, Field(ge=1, le=255)]


class Mapped(InputModel):
    """Where a tool's own output tells what; expressions are JMESPath."""

    rows: Expression | None = Field(
        default=None, description="the list of results; json-lines: over the list of all lines"
    )
    path: Expression | None = Field(default=None, description="in a row; relative or absolute")
    line: Expression | None = Field(default=None, description="in a row; null where unknown")
    end_line: Expression | None = Field(default=None, description="in a row; the last line, inclusive")
    kind: Expression | None = Field(default=None, description="in a row; see kinds")
    score: Expression | None = Field(default=None, description="in a row; kept, never reorders")
    excerpt: Expression | None = Field(default=None, description="in a row of context")
    id: Expression | None = Field(default=None, description="the request's id in a session's line")
    kinds: dict[str, Kind] = Field(default={}, description="the tool's kinds in the words of Boresight")
    first_line: Literal[0, 1] = Field(default=1, description="the number of a file's first line")
    error: Expression | None = Field(default=None, description="fails the query where it finds something")
    expect: dict[str, str | int | bool] = Field(
        default={}, description="what expressions must find, else the query fails"
    )
    pattern: Expression | None = Field(default=None, description="lines: such as {path}:{line}:{text}")
    skip_other_lines: bool = Field(default=False, description="lines: ignore those that do not fit")


class AnswerForm(Mapped):
    """How a query's output reads."""

    format: Literal["boresight-ranking@1", "json", "json-lines", "lines"] = "boresight-ranking@1"


class ContextForm(Mapped):
    """How a probe's output reads; `text` takes all of it as the context."""

    format: Literal["boresight-context@1", "json", "json-lines", "lines", "text"] = "boresight-context@1"


class CommandConfig(InputModel):
    """The `config` of an entry: commands are lists of words, with placeholders in braces."""

    query: Argv | None = Field(default=None, description="answers one query; holds {query}")
    session: Argv | None = Field(default=None, description="instead: answers a JSON line for each query")
    session_probe: bool = Field(default=False, description="the session also answers probes for context")
    probe: Argv | None = Field(default=None, description="prints context for one query; holds {query}")
    index: list[Argv] = Field(default=[], description="commands that build the index; none: no index")
    verify: Argv | None = Field(
        default=None, description='prints {"units": N} of a complete index; untimed, run at each resume too'
    )
    index_paths: list[str] = Field(default=[], description="files and folders that an index consists of")
    version: Argv | None = Field(default=None, description="prints a version, which is frozen")
    channels: list[Channel] = Field(default=list(CHANNELS), min_length=1)
    channel_words: dict[Channel, str] = Field(default={}, description="what {channel} becomes")
    level: Level = Field(description="the finest that its results tell: exact, span or file")
    answer: AnswerForm = AnswerForm()
    context: ContextForm = ContextForm()
    empty_exit_codes: list[ExitCode] = Field(default=[], description="that mean: nothing was found")
    cwd: Literal["repository", "state"] = "repository"
    environment: dict[str, str] = Field(default={}, description="added variables; kept as evidence")
    secrets: list[str] = Field(default=[], description="names of variables to pass on; values kept nowhere")
    assets: list[str] = Field(default=[], description="files and folders that answers depend on")
    writes_repository: bool = Field(default=False, description="works on a copy of the tree")
    relocatable: bool = Field(default=False, description="its index may be moved to another path")


class CommandEntry(InputModel):
    """A model manifest's entry for a declared tool."""

    id: str
    retriever: Literal["command"]
    engine: str | None = None
    model: str | None = None
    version: str | None = None
    dimension: int | None = Field(default=None, ge=1, le=65536)
    precision: str | None = None
    config: CommandConfig


EXAMPLE: dict[str, Any] = {
    "id": "ripgrep",
    "retriever": "command",
    "engine": "ripgrep",
    "config": {
        "query": [
            *("rg", "--no-config", "--no-ignore", "--no-messages", "--sort", "path", "--line-number"),
            *("--multiline", "--fixed-strings", "--ignore-case", "--", "{query}", "."),
        ],
        "version": ["rg", "--version"],
        "level": "exact",
        "answer": {"format": "lines", "pattern": "{path}:{line}:{text}"},
        "empty_exit_codes": [1],
    },
}
