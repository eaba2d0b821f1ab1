"""What retrievers share that are asked by one process a question, or by none."""

from __future__ import annotations

from core.ranking import Channel
from core.retrievers.protocol import Place, Step


class OneShot:
    """The part of `core.retrievers.protocol.Retriever` that tells of sessions: there is none."""

    def session(self, place: Place) -> Step | None:
        """Return None."""
        return None

    def request(self, kind: str, channel: Channel, text: str, limit: int) -> bytes:
        """Raise TypeError: there is no session to ask."""
        raise TypeError("there is no session to ask")

    def is_answer_to(self, request: bytes, stdout: bytes) -> bool:
        """Return False: nothing was asked."""
        return False
