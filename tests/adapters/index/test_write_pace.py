"""Graphs are not built while writes would overtake them."""

import pytest

from citewell.adapters.index import write_pace
from citewell.adapters.index.write_pace import WritePace


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(write_pace, "time", clock)
    return clock


def _write(pace: WritePace, clock: Clock, per_second: int, seconds: int) -> None:
    for _ in range(10 * seconds):
        pace.note(per_second // 10)
        clock.now += 0.1


def test_a_burst_overtakes_graphs_and_its_end_lets_them_be_built(clock: Clock) -> None:
    pace = WritePace()
    _write(pace, clock, 10_000, 3)
    assert pace.overtakes(30_000, 30_000)
    clock.now += 2.1
    assert not pace.overtakes(30_000, 30_000)


def test_writing_at_the_pace_of_a_model_never_does(clock: Clock) -> None:
    pace = WritePace()
    _write(pace, clock, 100, 10)
    for points in (10_000, 100_000, 1_000_000):
        assert not pace.overtakes(max(10_000, points // 20), points)


def test_so_many_without_a_graph_do_not_wait(clock: Clock) -> None:
    pace = WritePace()
    _write(pace, clock, 10_000, 3)
    assert pace.overtakes(999_999, 2_000_000)
    assert not pace.overtakes(1_000_000, 2_000_000)


def test_the_pace_is_that_of_the_last_two_seconds(clock: Clock) -> None:
    pace = WritePace()
    assert pace.per_second() == 0.0
    _write(pace, clock, 1_000, 5)
    assert pace.per_second() == pytest.approx(1_000, rel=0.06)
    clock.now += 1.0
    assert pace.per_second() == pytest.approx(500, rel=0.12)
