"""A gate for continuous integration: fail where a kind of faults is too frequent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.check.figures import UNTRANSLATED
from gnomon.core.errors import UsageError
from gnomon.core.gates import GateCase
from gnomon.core.validation import Problem
from gnomon.linguistics.faults import find_faults
from gnomon.linguistics.faults.texts import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Cell, Table
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline

__all__ = ["check_limits", "gate_cases"]

_ROUNDING = 1e-9
#: kinds and a group that a glossary or rules bring
PRESCRIBED = ("term", "forbidden-term", "consistency", "rule", "prescribed")


def check_limits(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:  # noqa: ARG001  # none of them depends on it
    """Check the gate of :func:`gnomon.check`."""
    for limit in options.fail_above:
        try:
            _parse_limit(limit)
        except UsageError as error:
            yield Problem("fail_above", error)


def _parse_limit(limit: str) -> tuple[str, float]:
    """A kind or group, and a share."""
    kind, _, share = limit.partition("=")
    percent = share.endswith("%")
    try:
        value = float(share.rstrip("%")) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(
            f"{limit!r} is no limit; write a kind of faults and a share, as in 'untranslated=0.5%'"
        )
    if kind not in PRESCRIBED:
        find_faults([kind])
    return kind, value


def gate_cases(
    rates: Table, limits: Sequence[str], groups: Mapping[str, str]
) -> tuple[GateCase, ...]:
    """Decide whether each system has at most as many faults as each limit allows.

    It is undecided where it has, and its interval reaches beyond a limit above 0.

    Args:
        rates: the table of rates.
        limits: kinds or groups with the largest shares that pass.
        groups: of the kinds.

    Raises:
        UsageError: a kind was not looked for, so that nothing says whether systems pass.
    """
    cases = []
    for kind, most in map(_parse_limit, limits):
        names = {kind}
        if kind != UNTRANSLATED:
            names |= {name for name, group in groups.items() if kind in (group, "all")}
        rows = [row for row in rates.rows if row["kind"] in names]
        if not rows:
            raise UsageError(
                f"{kind!r} was not looked for, so that nothing says whether systems pass; give what"
                " it needs, or leave it out of the limits"
            )
        cases += [_case(row, most) for row in rows if not str(row["system"]).startswith(REFERENCE)]
    return tuple(cases)


def _case(row: Mapping[str, Cell], most: float) -> GateCase:
    system, kind, share, high = (row[name] for name in ("system", "kind", "share", "high"))
    said = f"{system}: {row['hits']} of {row['segments']} segments are hit by {kind}"
    allowed = f"(at most {most:.3%} pass)"
    if isinstance(share, float) and share > most + _ROUNDING:
        return GateCase(str(system), str(kind), "failed", f"{said} {allowed}")
    # no more than none is asked of these segments alone
    if most and isinstance(high, float) and high > most + _ROUNDING:
        more = f"{said}, and of others like them up to {high:.3%} may be {allowed}"
        return GateCase(str(system), str(kind), "undecided", more)
    return GateCase(str(system), str(kind))
