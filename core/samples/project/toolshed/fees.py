"""What lateness, loss and dirt cost: the tariff that hangs beside the door."""

from __future__ import annotations

from dataclasses import dataclass

from toolshed.catalogue import Tool
from toolshed.money import Money


@dataclass(frozen=True)
class FeeSchedule:
    """The amounts that the yearly meeting agreed on."""

    per_day: Money = Money(50)
    per_day_powered: Money = Money(150)
    ceiling: Money = Money(2000)
    cleaning: Money = Money(400)

    def overdue(self, tool: Tool, days: int) -> Money:
        """Return the charge for a tardy return, which grows by the day up to a ceiling."""
        if days < 0:
            raise ValueError("a tool cannot be late by fewer than zero days")
        rate = self.per_day_powered if tool.powered else self.per_day
        return rate.times(days).at_most(self.ceiling)

    def refund(self, tool: Tool, *, dirty: bool, broken: bool) -> Money:
        """Return how much of the deposit the borrower gets back after the inspection."""
        if broken:
            return Money(0)
        kept = self.cleaning.cents if dirty else 0
        return Money(max(tool.deposit.cents - kept, 0))


def invoice(charges: dict[str, Money]) -> str:
    """Write the charges of one visit as lines with a total below them."""
    if not charges:
        raise ValueError("an invoice needs at least one charge")
    width = max(len(reason) for reason in [*charges, "total"])
    total = Money(sum(amount.cents for amount in charges.values()))
    rows = [*charges.items(), ("total", total)]
    return "\n".join(f"{reason:<{width}}  {str(amount):>8}" for reason, amount in rows)
