"""Friendly letters: reminders, last warnings and good news for those who wait."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from string import Template

from toolshed.loans import Loan
from toolshed.members import Member

_REMINDER = Template("Dear $name, the $tool comes home on $due. See you at the counter!")
_WARNING = Template("Dear $name, the $tool was expected on $due, $days days ago. Others are waiting.")
_ARRIVAL = Template("Dear $name, the $tool hangs here for you until $until.")
WARN_AFTER_DAYS = 3


def reminder(member: Member, loan: Loan) -> str:
    """Compose the gentle note that goes out before a deadline."""
    return _REMINDER.substitute(name=member.name, tool=loan.tool.name, due=loan.due.isoformat())


def warning(member: Member, loan: Loan, today: date) -> str:
    """Compose the sterner letter about something that should have been returned."""
    days = (today - loan.due).days
    if days <= 0:
        raise ValueError("a loan that is not late deserves no warning")
    return _WARNING.substitute(name=member.name, tool=loan.tool.name, due=loan.due.isoformat(), days=days)


def arrival(member: Member, tool_name: str, until: date) -> str:
    """Tell the next in line that their turn has come."""
    return _ARRIVAL.substitute(name=member.name, tool=tool_name, until=until.isoformat())


def overdue_loans(loans: Iterable[Loan], today: date) -> list[Loan]:
    """Pick the loans that earned a warning, longest overdue first."""
    late = [loan for loan in loans if (today - loan.due).days >= WARN_AFTER_DAYS]
    return sorted(late, key=lambda loan: loan.due)
