"""Cases of a gate of continuous integration, each with its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from gnomon.core.errors import GateError, UndecidedGateError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["GateCase", "refuse_gate"]

Outcome: TypeAlias = Literal["passed", "failed", "undecided", "error"]


@dataclass(frozen=True)
class GateCase:
    """A system under one condition of a gate.

    Attributes:
        system: that has to fulfil it.
        condition: what is looked at: a metric, a kind of faults, who marked errors.
        outcome: "undecided": it does not fail, and the data do not show that it should not;
            "error": nothing could be looked at.
        said: why, unless it passed.
    """

    system: str
    condition: str
    outcome: Outcome = "passed"
    said: str = ""


def refuse_gate(cases: Iterable[GateCase], *, strict: bool) -> None:
    """Raise an error where a case fails, and, where they are to be certain, is undecided.

    Raises:
        GateError: a case fails.
        UndecidedGateError: with ``strict``, none does, and one is undecided.
    """
    every = list(cases)
    for outcome, error in (("failed", GateError), ("undecided", UndecidedGateError)):
        said = "; ".join(case.said for case in every if case.outcome == outcome)
        if said and (strict or error is GateError):
            raise error(said)
