"""The neighbours who may take things home, and what they paid for the year."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from toolshed.errors import Refused, UnknownItem


@dataclass
class Member:
    """A neighbour with a card; `trained_for` lists the categories they were shown how to use."""

    card: int
    name: str
    paid_until: date
    suspended: bool = False
    trained_for: set[str] = field(default_factory=set)

    def is_current(self, today: date) -> bool:
        """Tell whether the yearly contribution still covers this day."""
        return today <= self.paid_until


class Register:
    """Everyone who ever got a card, by its number."""

    def __init__(self) -> None:
        self._members: dict[int, Member] = {}

    def enrol(self, name: str, paid_until: date) -> Member:
        """Hand out the next free card to a new neighbour."""
        if not name.strip():
            raise ValueError("a card cannot be issued without a name")
        card = max(self._members, default=1000) + 1
        member = Member(card, name.strip(), paid_until)
        self._members[card] = member
        return member

    def member(self, card: int) -> Member:
        """Return the holder of a card."""
        if card not in self._members:
            raise UnknownItem("nobody was ever given this card number")
        return self._members[card]

    def renew(self, card: int, until: date) -> None:
        """Record that somebody paid their contribution for another year."""
        member = self.member(card)
        if until <= member.paid_until:
            raise Refused("the contribution is already paid beyond that day")
        member.paid_until = until

    def suspend(self, card: int) -> None:
        """Bar somebody from borrowing until the committee has spoken with them."""
        self.member(card).suspended = True

    def reinstate(self, card: int) -> None:
        """Let a barred neighbour borrow again."""
        self.member(card).suspended = False
