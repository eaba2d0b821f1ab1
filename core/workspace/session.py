"""The session form: one JSON request a line on stdin, one JSON answer a line on stdout."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import BinaryIO, Literal, cast, get_args

from core.canonical import load_json
from core.ranking import CHANNELS, Channel
from core.text import printable
from core.workspace.errors import WorkspaceError
from core.workspace.pipeline import Pipeline, Request

MAX_LIMIT = 1000
_FIELDS = frozenset({"do", "channel", "text", "limit"})
_MAX_ID = 200
Act = Literal["query", "probe"]


def serve(pipeline: Pipeline, requests: Iterable[bytes], answers: BinaryIO) -> None:
    """Answer each request line as it comes, until there are no more.

    Raises WorkspaceError at a line that is no request: its sender is out of step, and starting anew is
    the only sound answer.
    """
    for line in requests:
        number, request = read_request(line)
        answer = pipeline.answer(request)
        if number is not None:
            answer = b'{"id":' + json.dumps(number).encode() + b"," + answer.removeprefix(b"{")
        answers.write(answer)
        answers.flush()


def read_request(line: bytes) -> tuple[str | None, Request]:
    """Return `{"do": "query" or "probe", "channel": "emb" or "docs", "text", "limit"}` and its `id`, if any.

    Raises WorkspaceError for anything else.
    """
    try:
        document = load_json(line)
    except ValueError as error:
        raise WorkspaceError(f"a request is not valid JSON: {printable(str(error), 200)}") from None
    if not isinstance(document, dict) or set(document) - {"id"} != _FIELDS:
        raise WorkspaceError(f"a request must be an object with exactly {', '.join(sorted(_FIELDS))}")
    number = document.get("id")
    if number is not None and not (isinstance(number, str) and len(number) <= _MAX_ID):
        raise WorkspaceError(f"id: found {printable(repr(number), 60)}, expected text of at most {_MAX_ID}")
    act, channel, text, limit = (document[name] for name in ("do", "channel", "text", "limit"))
    if act not in get_args(Act):
        raise WorkspaceError(f"do: found {printable(repr(act), 60)}, expected query or probe")
    if channel not in CHANNELS:
        raise WorkspaceError(f"channel: found {printable(repr(channel), 60)}, expected emb or docs")
    if not isinstance(text, str):
        raise WorkspaceError(f"text: found {printable(repr(text), 60)}, expected text")
    if type(limit) is not int or not 1 <= limit <= MAX_LIMIT:
        raise WorkspaceError(f"limit: found {printable(repr(limit), 60)}, expected 1 to {MAX_LIMIT}")
    return number, Request(cast("Act", act), cast("Channel", channel), text, limit)
