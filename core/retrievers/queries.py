"""A query in the form that a tool is given it: one word of a command line, or one line to a session."""

from __future__ import annotations

import hashlib
import json

from core.retrievers.protocol import UnpassableError

MAX_ARGUMENT_BYTES = 128 * 1024 - 1  # Linux: MAX_ARG_STRLEN, less the final NUL


def as_argument(text: str) -> str:
    """Return a query that one word of a command line can hold; raises UnpassableError that says why not."""
    if "\0" in text:
        raise UnpassableError("the query holds a NUL, which no command-line argument can")
    try:
        length = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise UnpassableError("the query holds a lone surrogate, which UTF-8 cannot encode") from None
    if length > MAX_ARGUMENT_BYTES:
        raise UnpassableError(f"the query is {length} bytes long, an argument at most {MAX_ARGUMENT_BYTES}")
    return text


def as_request(kind: str, channel: str, text: str, limit: int) -> bytes:
    """Return the line, without its newline, that asks a session; it is ASCII, so that any text can be asked.

    Its id is a digest of the question, so that asking again makes the same line.
    """
    question = {"do": kind, "channel": channel, "text": text, "limit": limit}
    number = hashlib.sha256(json.dumps(question).encode("ascii")).hexdigest()[:16]
    return json.dumps({"id": number, **question}).encode("ascii")


def request_id(request: bytes) -> str:
    """Return the id that the answer to a session's line must bear."""
    return str(json.loads(request)["id"])
