"""Scorers by what a user writes, and by the labels under which tables list them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias, cast

from gnomon.annotate.scorers import SentenceScorer, scorer
from gnomon.errors import UsageError
from gnomon.faults import faults
from gnomon.metrics.functions import imported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gnomon.faults import Fault

AnyScorer: TypeAlias = "str | SentenceScorer | Callable[[str], float | None]"

__all__ = ["AnyScorer", "scorer_faults", "scorers_of"]

_CODE = re.compile(r"([^=]+)=python\((['\"])(.*)\2\)")


def scorers_of(
    scorers: Sequence[AnyScorer], *, allow_code: bool = False
) -> dict[str, SentenceScorer]:
    """Scorers by label: the name, and ``NAME=SOURCE`` where several scorers have one name.

    Raises:
        UsageError: none is given, one is given twice, or one runs code that was not allowed.
        UnknownNameError: there is no such scorer.
        MissingDependencyError: the package of a scorer is not installed.
        FormatError: a lexicon is malformed.
    """
    _check_some(scorers)
    found = [_scorer(one, allow_code=allow_code) for one in scorers]
    names = Counter(one.name for one in found)
    labels = [o.name if names[o.name] == 1 else f"{o.name}={o.source}" for o in found]
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise UsageError(f"scorer {twice[0]!r} is given twice; give each scorer once")
    return dict(zip(labels, found, strict=True))


def scorer_faults(scorers: Sequence[AnyScorer], *, allow_code: bool = False) -> Iterator[Fault]:
    """What :func:`scorers_of` refuses, scorer by scorer."""
    wrong = list(faults("scorers", _check_some, scorers))
    if not wrong:
        for number, one in enumerate(scorers):
            wrong += faults(f"scorers[{number}]", _scorer, one, allow_code=allow_code)
    yield from wrong or faults("scorers", scorers_of, scorers, allow_code=allow_code)


def _check_some(scorers: Sequence[AnyScorer]) -> None:
    if isinstance(scorers, str) or not scorers:
        raise UsageError(
            f"scorers must be a list of one or more; got {scorers!r}, write for instance"
            " ['sentiment', 'valence=FILE']"
        )


def _scorer(one: AnyScorer, *, allow_code: bool) -> SentenceScorer:
    code = _CODE.fullmatch(one) if isinstance(one, str) else None
    if code is None:
        return scorer(one)
    name, _, target = code.groups()
    if not allow_code:
        raise UsageError(
            f"scorer {one!r} imports and runs {target.partition(':')[0]!r}; if you trust that code,"
            " allow it (--allow-code; allow_code=True)"
        )
    return scorer(cast("Callable[[str], float | None]", imported(target)), name=name)
