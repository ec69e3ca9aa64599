"""What a scoring function is given: decided by its parameters' names, or by what it needs."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from gnomon.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gnomon.metrics.protocol import Need

__all__ = ["needs_of", "roles_of"]

#: what a parameter of a scoring function stands for, by its name
_ROLES = {
    "candidate": "candidate",
    "hypothesis": "candidate",
    "hyp": "candidate",
    "prediction": "candidate",
    "reference": "reference",
    "ref": "reference",
    "references": "references",
    "refs": "references",
    "source": "source",
    "src": "source",
}
_NEED: dict[str, Need] = {
    "reference": "references",
    "references": "references",
    "source": "sources",
}
_NEEDS: tuple[Need, ...] = ("references", "sources")


def roles_of(
    function: Callable[..., float], name: str, needs: Iterable[Need] | None
) -> tuple[str, ...]:
    """What each argument of a function is: "candidate", "reference", "references" or "source".

    Args:
        function: the scoring function.
        name: what to call it in errors.
        needs: what the caller says that it needs, or None.

    Raises:
        UsageError: the parameters do not say what they are, or contradict ``needs``.
        UnknownNameError: there is no such need.
    """
    return _roles(function, name, None if needs is None else _checked_needs(needs))


def needs_of(roles: tuple[str, ...]) -> frozenset[Need]:
    """What a function with these arguments scores candidates against."""
    return frozenset(_NEED[role] for role in roles if role in _NEED)


def _checked_needs(needs: Iterable[Need]) -> frozenset[Need]:
    if isinstance(needs, str):
        raise UsageError(f"needs={needs!r} must be a list, such as needs=({needs!r},)")
    chosen = frozenset(needs)
    for need in sorted(chosen):
        if need not in _NEEDS:
            raise UnknownNameError("need of a metric", need, _NEEDS)
    return chosen


def _roles(
    function: Callable[..., float], name: str, needs: frozenset[Need] | None
) -> tuple[str, ...]:
    parameters = _required(function)
    named = None if parameters is None else [_ROLES.get(p, "") for p in parameters]
    if named and all(named):
        return _by_name(tuple(named), name, needs)
    roles = _by_need(frozenset(("references",)) if needs is None else needs)
    if parameters is not None and len(parameters) != len(roles):
        raise UsageError(
            f"metric {name!r}: it is not clear what its parameters ({', '.join(parameters)}) are;"
            " name them candidate, reference (or references), source"
        )
    return roles


def _by_name(roles: tuple[str, ...], name: str, needs: frozenset[Need] | None) -> tuple[str, ...]:
    known = set(roles)
    if "candidate" not in known or len(known) < len(roles) or {"reference", "references"} <= known:
        raise UsageError(
            f"metric {name!r} takes {', '.join(roles)}; it must take one candidate, and reference"
            " or references, and source, each at most once"
        )
    if needs is not None and needs != needs_of(roles):
        raise UsageError(
            f"metric {name!r}: needs={tuple(sorted(needs))} contradicts its parameters, which are"
            f" {', '.join(roles)}"
        )
    return roles


def _by_need(needs: frozenset[Need]) -> tuple[str, ...]:
    source = ("source",) if "sources" in needs else ()
    reference = ("reference",) if "references" in needs else ()
    return ("candidate", *source, *reference)


def _required(function: Callable[..., float]) -> list[str] | None:
    """Names of the positional parameters that have no default or whose name is a role."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [p.name for p in by_position if p.default is p.empty]
