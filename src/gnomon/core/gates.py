"""What a gate of continuous integration says of each thing that it looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from gnomon.core.errors import GateError, UndecidedGateError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["GateCase", "refuse_gate", "said_of_cases"]

Outcome: TypeAlias = Literal["passed", "failed", "undecided"]


@dataclass(frozen=True)
class GateCase:
    """A system under one condition of a gate.

    Attributes:
        system: that has to fulfil it.
        condition: what is looked at: a metric, a kind of faults, who marked errors.
        outcome: "undecided": it does not fail, and the data do not show that it should not.
        said: why, unless it passed.
    """

    system: str
    condition: str
    outcome: Outcome = "passed"
    said: str = ""


def said_of_cases(cases: Iterable[GateCase], outcome: Outcome) -> str:
    """What is said of the cases of an outcome; empty where there are none."""
    return "; ".join(case.said for case in cases if case.outcome == outcome)


def refuse_gate(cases: Iterable[GateCase], *, strict: bool) -> None:
    """Raise an error where a case fails, and, where they are to be certain, is undecided.

    Raises:
        GateError: a case fails.
        UndecidedGateError: with ``strict``, none does, and one is undecided.
    """
    cases = list(cases)
    failed = said_of_cases(cases, "failed")
    if failed:
        raise GateError(failed)
    undecided = said_of_cases(cases, "undecided")
    if strict and undecided:
        raise UndecidedGateError(undecided)
