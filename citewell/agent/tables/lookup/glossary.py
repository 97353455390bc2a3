"""The usual names of the lines of financial statements, and the measures that are defined by them.

Definitions as introductory accounting texts give them (e.g. Stickney et al., "Financial Accounting"). An answer always shows the formula
with its inputs, as companies define some of them differently.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class StatementKind(StrEnum):
    """The statement that a line belongs to."""

    BALANCE = "balance sheet"
    INCOME = "income statement"
    CASH = "statement of cash flows"


class Sign(StrEnum):
    """How a figure's sign is read: as it stands, as an amount without sign, or so that an expense is positive."""

    PLAIN = "plain"
    AMOUNT = "amount"
    EXPENSE = "expense"


@dataclass(frozen=True, slots=True)
class KnownLine:
    """A line by its usual names, those that mean it most exactly first; `where` it is, if only one statement has it."""

    key: str
    names: tuple[str, ...]
    sign: Sign = Sign.PLAIN
    where: StatementKind | None = None


@dataclass(frozen=True, slots=True)
class FormulaTerm:
    """A line in a formula: added (1) or subtracted (-1), and at the mean of the period's end and the one before where `average`."""

    line: str
    factor: int = 1
    average: bool = False


@dataclass(frozen=True, slots=True)
class Formula:
    """A measure: the sum of `terms`, over the sum of `below` where there are any. `percent` says how it is shown."""

    names: tuple[str, ...]
    terms: tuple[FormulaTerm, ...]
    below: tuple[FormulaTerm, ...] = ()
    percent: bool = False
    words: str = ""


LINES: tuple[KnownLine, ...] = (
    KnownLine("revenue", ("total net revenues", "total net revenue", "total revenues", "total revenue", "net revenues", "net revenue", "total net sales",
                          "net sales", "revenues", "revenue", "sales and revenues", "sales", "turnover", "net operating revenues", "top line", "topline"), where=StatementKind.INCOME),
    KnownLine("cost of sales", ("total cost of revenue", "total cost of revenues", "total costs of revenue", "cost of sales", "cost of goods sold", "cogs", "cost of revenue",
                                "cost of revenues", "total cost of sales", "cost of products sold", "cost of goods and services sold"), Sign.EXPENSE, where=StatementKind.INCOME),
    KnownLine("gross profit", ("gross profit", "gross margin", "total gross profit"), where=StatementKind.INCOME),
    KnownLine("operating income", ("operating income", "income from operations", "operating profit", "profit from operations", "earnings from operations",
                                   "total operating income", "loss from operations", "operating loss", "operating earnings"), where=StatementKind.INCOME),
    KnownLine("net income", ("net income", "net earnings", "net profit", "profit for the year", "profit for the period", "net loss", "consolidated net income", "bottom line")),
    KnownLine("pretax income", ("income before income taxes", "earnings before income taxes", "income before taxes", "income before provision for income taxes",
                                "loss before income taxes", "profit before tax", "earnings before provision for income taxes", "pretax income"), where=StatementKind.INCOME),
    KnownLine("income tax", ("provision for income taxes", "income tax expense", "income taxes", "income tax provision", "tax expense", "income tax"), Sign.EXPENSE, where=StatementKind.INCOME),
    KnownLine("interest expense", ("interest expense", "interest and debt expense", "finance costs", "interest expense net"), Sign.AMOUNT, where=StatementKind.INCOME),
    KnownLine("depreciation and amortization", ("depreciation and amortization", "depreciation and amortisation", "depreciation amortization and accretion",
                                                "depreciation amortization and other"), Sign.AMOUNT),
    KnownLine("operating cash flow", ("net cash provided by operating activities", "net cash from operating activities", "total cash provided by operating activities",
                                      "cash flows from operating activities", "net cash flows from operating activities", "cash flow from operations", "operating cash flow",
                                      "cash generated from operations", "cash from operations", "cash provided by operations", "net cash used in operating activities", "operating cash flows"), where=StatementKind.CASH),
    KnownLine("investing cash flow", ("net cash used in investing activities", "net cash used for investing activities", "net cash provided by investing activities",
                                      "total cash used in investing activities", "cash flow from investing activities", "investing cash flow"), where=StatementKind.CASH),
    KnownLine("financing cash flow", ("net cash used in financing activities", "net cash used for financing activities", "net cash provided by financing activities",
                                      "total cash used in financing activities", "cash flow from financing activities", "financing cash flow"), where=StatementKind.CASH),
    KnownLine("capital expenditures", ("capital expenditures", "purchases of property plant and equipment", "purchases of property and equipment", "purchase of property plant and equipment",
                                       "purchase of property and equipment", "additions to property plant and equipment", "additions to property and equipment",
                                       "property plant and equipment additions", "payments for property plant and equipment", "expenditures for property plant and equipment",
                                       "acquisition of property plant and equipment", "investments in property plant and equipment", "capital expenditure", "capex", "capital spending"), Sign.AMOUNT, where=StatementKind.CASH),
    KnownLine("dividends paid", ("dividends paid", "cash dividends paid", "payment of dividends", "payments of dividends", "dividends"), Sign.AMOUNT, where=StatementKind.CASH),
    KnownLine("current assets", ("total current assets", "current assets"), where=StatementKind.BALANCE),
    KnownLine("current liabilities", ("total current liabilities", "current liabilities"), where=StatementKind.BALANCE),
    KnownLine("assets", ("total assets", "assets"), where=StatementKind.BALANCE),
    KnownLine("liabilities", ("total liabilities", "liabilities"), where=StatementKind.BALANCE),
    KnownLine("equity", ("total stockholders equity", "total shareholders equity", "total equity", "stockholders equity", "shareholders equity", "shareowners equity"), where=StatementKind.BALANCE),
    KnownLine("inventories", ("inventories", "inventory", "merchandise inventories", "total inventories"), where=StatementKind.BALANCE),
    KnownLine("receivables", ("accounts receivable", "trade receivables", "receivables", "trade accounts receivable", "accounts and notes receivable"), where=StatementKind.BALANCE),
    KnownLine("payables", ("accounts payable", "trade payables", "trade accounts payable"), where=StatementKind.BALANCE),
    KnownLine("cash", ("cash and cash equivalents", "cash"), where=StatementKind.BALANCE),
    KnownLine("fixed assets", ("property plant and equipment", "property and equipment", "net property plant and equipment", "net property and equipment", "net ppe", "net ppne", "net pp&e", "ppe", "ppne", "pp&e", "fixed assets", "property plant and equipment net"), where=StatementKind.BALANCE),
    KnownLine("research and development", ("research and development", "research and development expense", "research and development expenses", "r&d", "r&d expense"), where=StatementKind.INCOME),
    KnownLine("selling and administration", ("selling general and administrative expenses", "selling general and administrative", "selling general and administrative expense",
                                             "sg&a", "sg&a expense", "sg&a expenses", "marketing general and administrative expenses"), where=StatementKind.INCOME),
    KnownLine("diluted earnings per share", ("diluted earnings per share", "diluted net income per share", "diluted eps", "earnings per share diluted", "diluted loss per share"), where=StatementKind.INCOME),
    KnownLine("basic earnings per share", ("basic earnings per share", "basic net income per share", "basic eps", "earnings per share basic", "basic loss per share"), where=StatementKind.INCOME),
)  # fmt: skip

_GROSS = FormulaTerm("gross profit")
_REVENUE = (FormulaTerm("revenue"),)
FORMULAS: tuple[Formula, ...] = (
    Formula(("gross profit",), (FormulaTerm("revenue"), FormulaTerm("cost of sales", -1)), words="revenue - cost of sales"),
    Formula(("gross margin", "gross profit margin"), (_GROSS,), _REVENUE, True, "gross profit / revenue"),
    Formula(("operating margin", "operating profit margin", "operating income margin"), (FormulaTerm("operating income"),), _REVENUE, True, "operating income / revenue"),
    Formula(("net margin", "net profit margin", "net income margin", "profit margin"), (FormulaTerm("net income"),), _REVENUE, True, "net income / revenue"),
    Formula(("free cash flow", "fcf"), (FormulaTerm("operating cash flow"), FormulaTerm("capital expenditures", -1)), words="operating cash flow - capital expenditures"),
    Formula(("free cash flow margin", "fcf margin"), (FormulaTerm("operating cash flow"), FormulaTerm("capital expenditures", -1)), _REVENUE, True,
            "(operating cash flow - capital expenditures) / revenue"),
    Formula(("free cash flow conversion", "fcf conversion", "free cashflow conversion", "cash conversion"), (FormulaTerm("operating cash flow"), FormulaTerm("capital expenditures", -1)),
            (FormulaTerm("net income"),), True, "(operating cash flow - capital expenditures) / net income"),
    Formula(("effective tax rate", "effective income tax rate"), (FormulaTerm("income tax"),), (FormulaTerm("pretax income"),), True, "income tax / income before taxes"),
    Formula(("ebitda",), (FormulaTerm("operating income"), FormulaTerm("depreciation and amortization")), words="operating income + depreciation and amortization"),
    Formula(("ebitda margin",), (FormulaTerm("operating income"), FormulaTerm("depreciation and amortization")), _REVENUE, True,
            "(operating income + depreciation and amortization) / revenue"),
    Formula(("working capital", "net working capital"), (FormulaTerm("current assets"), FormulaTerm("current liabilities", -1)), words="current assets - current liabilities"),
    Formula(("current ratio", "working capital ratio"), (FormulaTerm("current assets"),), (FormulaTerm("current liabilities"),), words="current assets / current liabilities"),
    Formula(("quick ratio", "acid test ratio", "acid test"), (FormulaTerm("current assets"), FormulaTerm("inventories", -1)), (FormulaTerm("current liabilities"),),
            words="(current assets - inventories) / current liabilities"),
    Formula(("cash ratio",), (FormulaTerm("cash"),), (FormulaTerm("current liabilities"),), words="cash and cash equivalents / current liabilities"),
    Formula(("interest coverage", "interest coverage ratio", "times interest earned"), (FormulaTerm("operating income"),), (FormulaTerm("interest expense"),),
            words="operating income / interest expense"),
    Formula(("return on assets", "roa"), (FormulaTerm("net income"),), (FormulaTerm("assets", average=True),), True, "net income / average total assets"),
    Formula(("return on equity", "roe"), (FormulaTerm("net income"),), (FormulaTerm("equity", average=True),), True, "net income / average equity"),
    Formula(("asset turnover", "asset turnover ratio"), _REVENUE, (FormulaTerm("assets", average=True),), words="revenue / average total assets"),
    Formula(("fixed asset turnover", "fixed asset turnover ratio"), _REVENUE, (FormulaTerm("fixed assets", average=True),),
            words="revenue / average property, plant and equipment"),
    Formula(("inventory turnover", "inventory turnover ratio"), (FormulaTerm("cost of sales"),), (FormulaTerm("inventories", average=True),),
            words="cost of sales / average inventories"),
    Formula(("payout ratio", "dividend payout ratio"), (FormulaTerm("dividends paid"),), (FormulaTerm("net income"),), True, "dividends paid / net income"),
    Formula(("debt to equity", "debt to equity ratio", "liabilities to equity"), (FormulaTerm("liabilities"),), (FormulaTerm("equity"),), words="total liabilities / equity"),
    Formula(("capital intensity", "capex intensity"), (FormulaTerm("capital expenditures"),), _REVENUE, True, "capital expenditures / revenue"),
)  # fmt: skip
