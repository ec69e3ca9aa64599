"""Problems of a request, each with its option: all are found, and reported, together.

A method refuses the first of its faults; a study that plans hundreds of tasks tells all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, ParamSpec

from gnomon.core.errors import GnomonError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Problem", "problems", "refuse"]

P = ParamSpec("P")


class Problem(NamedTuple):
    """A problem of an option."""

    option: str  # its name, with the place within it ("features[0]"); empty: the request as a whole
    error: GnomonError  # what is wrong


def problems(
    option: str, check: Callable[P, object], *args: P.args, **kwargs: P.kwargs
) -> Iterator[Problem]:
    """Yield a function's refusal as a problem of an option; nothing where it refuses nothing.

    >>> from gnomon.stats.p_values import check_confidence
    >>> [problem.option for problem in problems("confidence", check_confidence, 2.0)]
    ['confidence']
    """
    try:
        check(*args, **kwargs)
    except GnomonError as error:
        yield Problem(option, error)


def refuse(found: Iterable[Problem]) -> None:
    """Raise the first fault, if there is one."""
    for problem in found:
        raise problem.error
