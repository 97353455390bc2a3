from __future__ import annotations

import pytest

from citewell.agent.tables.picture.picture import Form
from citewell.agent.tables.picture.request import PictureRequest, read_request


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("plot expenses by quarter", PictureRequest("expenses by quarter")),
        ("Please plot the revenue per month.", PictureRequest("revenue per month")),
        ("Can you draw a bar chart of sales by region?", PictureRequest("sales by region", Form.BARS)),
        ("I'd like to see a line graph of visitors over time", PictureRequest("visitors over time", Form.LINE)),
        ("Show revenue by quarter as a bar chart", PictureRequest("revenue by quarter", Form.BARS)),
        ("display hires per year in a chart", PictureRequest("hires per year")),
        ("show me headcount as a line", PictureRequest("headcount", Form.LINE)),
        ("histogram of loan amounts", PictureRequest("loan amounts", Form.HISTOGRAM)),
        ("What is the distribution of ages?", PictureRequest("ages", Form.HISTOGRAM)),
        ("how are the salaries distributed?", PictureRequest("the salaries", Form.HISTOGRAM)),
        ("trend of rainfall", PictureRequest("rainfall", Form.LINE, over_time=True)),
        ("show the trend in costs by year", PictureRequest("costs by year", Form.LINE, over_time=True)),
        ("Give me a breakdown of spending by team", PictureRequest("spending by team", Form.BARS)),
        ("visualise the number of tickets by status", PictureRequest("number of tickets by status")),
        ("a trend chart of returns", PictureRequest("returns", Form.LINE, over_time=True)),
    ],
)
def test_a_request_for_a_picture_is_read_with_its_form(message: str, expected: PictureRequest) -> None:
    assert read_request(message) == expected


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Which quarter had the highest expenses?",
        "What does the chart on page 3 show?",
        "Who may draw on the reserve fund?",
        "How is the plot of land financed?",
        "Show me the loan policy",
        "What is a histogram?",
        "plot",
        "please",
        "plot " + "a" * 2_000,
    ],
)
def test_other_messages_are_none(message: str) -> None:
    assert read_request(message) is None
