"""The counter itself: handing out, bringing back and keeping a little longer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from toolshed.catalogue import Catalogue, Tool
from toolshed.errors import Refused
from toolshed.fees import FeeSchedule
from toolshed.members import Member
from toolshed.money import Money
from toolshed.opening import OpeningDays
from toolshed.waiting import WaitingList

LOAN_DAYS = 7
MAX_AT_ONCE = 4
MAX_EXTENSIONS = 2


@dataclass
class Loan:
    """A tool in somebody's hands."""

    tool: Tool
    card: int
    taken: date
    due: date
    extensions: int = 0


class Desk:
    """Applies the house rules to every visit."""

    def __init__(
        self, catalogue: Catalogue, days: OpeningDays, waiting: WaitingList, fees: FeeSchedule
    ) -> None:
        self._catalogue = catalogue
        self._days = days
        self._waiting = waiting
        self._fees = fees
        self._loans: dict[str, Loan] = {}

    def outstanding(self, card: int | None = None) -> list[Loan]:
        """Return what is away, soonest deadline first, for one card or for all."""
        loans = (loan for loan in self._loans.values() if card in (None, loan.card))
        return sorted(loans, key=lambda loan: (loan.due, loan.tool.label))

    def lend(self, label: str, member: Member, today: date) -> Loan:
        """Hand a tool to a visitor, if every rule allows it."""
        tool = self._catalogue.find(label)
        self._check_member(member, tool, today)
        if tool.retired:
            raise Refused("this tool is worn out and no longer lent")
        if label in self._loans:
            raise Refused("somebody else has this tool at home")
        first = self._waiting.first(label)
        if first not in (None, member.card):
            raise Refused("another neighbour is first in line for it")
        if first == member.card:
            self._waiting.leave(label, member.card)
        loan = Loan(tool, member.card, today, self._days.due_date(today, LOAN_DAYS))
        self._loans[label] = loan
        return loan

    def take_back(self, label: str, today: date) -> Money:
        """Accept a returned tool and work out what its borrower owes for being late."""
        loan = self._loan(label)
        del self._loans[label]
        return self._fees.overdue(loan.tool, self._days.late_days(loan.due, today))

    def extend(self, label: str, today: date) -> Loan:
        """Let a borrower keep a tool for another week while nobody waits for it."""
        loan = self._loan(label)
        if loan.extensions == MAX_EXTENSIONS:
            raise Refused("a loan can be prolonged only twice")
        if self._waiting.first(label) is not None:
            raise Refused("somebody is waiting, so it has to come back")
        if today > loan.due:
            raise Refused("an overdue loan must be returned first")
        loan.due = self._days.due_date(loan.due, LOAN_DAYS)
        loan.extensions += 1
        return loan

    def _loan(self, label: str) -> Loan:
        self._catalogue.find(label)
        if label not in self._loans:
            raise Refused("this tool was not lent to anybody")
        return self._loans[label]

    def _check_member(self, member: Member, tool: Tool, today: date) -> None:
        if member.suspended:
            raise Refused("this card is suspended until the next meeting")
        if not member.is_current(today):
            raise Refused("the yearly contribution has run out")
        if tool.powered and tool.category not in member.trained_for:
            raise Refused("powered tools need an introduction first")
        if len(self.outstanding(member.card)) >= MAX_AT_ONCE:
            raise Refused("four tools at a time are the limit")
