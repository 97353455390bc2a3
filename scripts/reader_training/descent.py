"""The loop in which the small models learn: AdamW's steps, the rate rising at first and then falling to nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

T = TypeVar("T")
_WARMING = 0.06
_REPORTED_EVERY = 50


def descend(
    optimizer: torch.optim.Optimizer,
    batches: Callable[[], Iterable[Sequence[T]]],
    loss_of: Callable[[Sequence[T]], Tensor],
    *,
    steps: int,
    clipped: Sequence[nn.Parameter],
) -> None:
    """Take so many steps, over the batches as often as it needs; prints the mean loss of an example.

    A group of parameters learns at its own rate, which is the highest that it gets. clipped: those whose gradient is cut to a length of 1.
    """
    highest = [float(group["lr"]) for group in optimizer.param_groups]
    began, loss_sum, count = time.monotonic(), 0.0, 0
    for done, batch in enumerate(_repeated(batches, steps)):
        share = done / steps
        for group, rate in zip(optimizer.param_groups, highest, strict=True):
            group["lr"] = rate * min(share / _WARMING, (1 - share) / (1 - _WARMING))
        loss = loss_of(batch)
        (loss / len(batch)).backward()
        nn.utils.clip_grad_norm_(clipped, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss_sum, count = loss_sum + loss.item(), count + len(batch)
        if (done + 1) % _REPORTED_EVERY == 0:
            seconds = time.monotonic() - began
            print(f"step {done + 1} of {steps}: loss {loss_sum / count:.4f}, {seconds:.0f} s", flush=True)
            loss_sum, count = 0.0, 0


def _repeated(batches: Callable[[], Iterable[Sequence[T]]], steps: int) -> Iterator[Sequence[T]]:
    left = steps
    while left:
        for batch in batches():
            yield batch
            left -= 1
            if not left:
                return
