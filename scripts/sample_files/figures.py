"""The invented lender's figures, in one place, so that sheet, plan, policy and deck never contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

COMPANY = "Asanka Credit"
AS_OF = date(2025, 12, 31)
BRANCH, OFFICER = "Tema", "T-2"

FIRST_LOAN_LIMIT = 5_000
SECOND_LOAN_LIMIT = 12_000
FOURTH_LOAN_LIMIT = 20_000


@dataclass(frozen=True)
class Quarter:
    """Income statement of one quarter, in GHS."""

    name: str
    revenue: int
    expenses: int

    @property
    def profit(self) -> int:
        return self.revenue - self.expenses


QUARTERS = (
    Quarter("Q1 2025", 48_200, 66_300),
    Quarter("Q2 2025", 61_500, 71_850),
    Quarter("Q3 2025", 77_900, 76_200),
    Quarter("Q4 2025", 96_400, 82_750),
)


@dataclass(frozen=True)
class Loan:
    """A loan in one officer's book; `missed` weekly instalments fell due and were not paid by the end of the year."""

    number: int
    borrower: int
    business: str
    cycle: int
    disbursed: date
    amount: int
    weeks: int
    missed: int = 0

    @property
    def paid(self) -> int:
        return min(self.weeks, (AS_OF - self.disbursed).days // 7) - self.missed

    @property
    def outstanding(self) -> float:
        return round(self.amount * (self.weeks - self.paid) / self.weeks, 2)

    @property
    def days_overdue(self) -> int:
        first_missed = self.disbursed + timedelta(weeks=self.paid + 1)
        return (AS_OF - first_missed).days if self.missed else 0

    @property
    def status(self) -> str:
        if self.missed:
            return "overdue"
        return "repaid" if self.paid == self.weeks else "active"


def _loans() -> tuple[Loan, ...]:
    """Forty loans that keep the Loan Policy: ceilings, growth of at most 2.5 times, the earlier loan repaid in full."""
    rows = [
        # borrower, business, cycle, month, day, amount, weeks, missed
        (101, "Fabric stall", 1, 1, 13, 3000, 16, 0),
        (102, "Smoked fish", 1, 1, 15, 2500, 16, 0),
        (103, "Provision shop", 2, 1, 20, 8000, 24, 0),
        (104, "Hair salon", 1, 1, 27, 4000, 20, 0),
        (105, "Chop bar", 3, 2, 3, 11500, 24, 0),
        (106, "Vegetable stall", 1, 2, 5, 1500, 12, 0),
        (107, "Second-hand clothes", 1, 2, 10, 5000, 20, 0),
        (108, "Tailoring shop", 2, 2, 17, 7500, 24, 0),
        (109, "Cold store", 4, 2, 24, 18000, 24, 0),
        (110, "Phone accessories", 1, 3, 3, 3500, 16, 0),
        (111, "Bakery", 2, 3, 10, 10000, 24, 0),
        (112, "Soap making", 1, 3, 17, 2000, 16, 0),
        (113, "Cosmetics stall", 1, 3, 24, 4500, 20, 2),
        (114, "Poultry farm", 3, 4, 7, 12000, 24, 0),
        (106, "Vegetable stall", 2, 5, 5, 3700, 16, 0),
        (115, "Palm oil trade", 1, 5, 12, 5000, 20, 0),
        (102, "Smoked fish", 2, 5, 19, 6000, 20, 0),
        (116, "Shoe repair", 1, 5, 26, 1800, 12, 0),
        (101, "Fabric stall", 2, 6, 2, 7500, 24, 0),
        (117, "Kenkey kitchen", 1, 6, 9, 3200, 16, 0),
        (118, "Stationery shop", 1, 6, 16, 4800, 20, 7),
        (110, "Phone accessories", 2, 7, 7, 8500, 24, 0),
        (119, "Yam wholesale", 2, 7, 14, 11000, 24, 5),
        (104, "Hair salon", 2, 7, 21, 7000, 24, 0),
        (112, "Soap making", 2, 7, 28, 5000, 20, 0),
        (120, "Waakye stand", 1, 8, 4, 2800, 16, 0),
        (107, "Second-hand clothes", 2, 8, 11, 10500, 24, 0),
        (103, "Provision shop", 3, 8, 18, 12000, 24, 0),
        (121, "Bead making", 1, 8, 25, 2200, 16, 0),
        (108, "Tailoring shop", 3, 9, 1, 10000, 24, 4),
        (122, "Ice cream cart", 1, 9, 8, 3600, 20, 0),
        (106, "Vegetable stall", 3, 9, 15, 6500, 20, 0),
        (123, "Barber shop", 1, 9, 22, 4200, 20, 2),
        (109, "Cold store", 5, 9, 29, 20000, 24, 0),
        (111, "Bakery", 3, 10, 6, 12000, 24, 0),
        (124, "Gari processing", 1, 10, 9, 5000, 24, 1),
        (115, "Palm oil trade", 2, 10, 20, 9500, 24, 0),
        (105, "Chop bar", 4, 11, 3, 16000, 24, 0),
        (116, "Shoe repair", 2, 11, 10, 3800, 16, 0),
        (125, "Mobile money kiosk", 1, 11, 24, 4600, 20, 0),
    ]
    return tuple(
        Loan(2500 + i, borrower, business, cycle, date(2025, month, day), amount, weeks, missed)
        for i, (borrower, business, cycle, month, day, amount, weeks, missed) in enumerate(rows, 1)
    )


LOANS = _loans()
OVERDUE = tuple(loan for loan in LOANS if loan.status == "overdue")
