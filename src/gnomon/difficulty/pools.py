"""Pools of systems, from whose scores difficulty is measured, and metrics that follow them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.signature import content_hash
from gnomon.core.verdicts import metric_title
from gnomon.difficulty.frozen import write_difficulties
from gnomon.messages import message
from gnomon.metrics.base import OfOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from gnomon.core.batch import Batch
    from gnomon.core.outline import Outline
    from gnomon.core.scores import Scores
    from gnomon.core.signature import Signature
    from gnomon.core.testset import TestSet
    from gnomon.difficulty.gram_hardness import GramHardness
    from gnomon.difficulty.metric import Difficulty
    from gnomon.difficulty.segment_hardness import SegmentHardness
    from gnomon.difficulty.token_hardness import Hardness
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric

__all__ = ["Pool", "PooledMetric", "check_pool", "choose_pool"]


#: the share of empty outputs that is said, at least
_EMPTY_SHARE = 0.01

# Pools of systems.


_TOP = re.compile(r"top:([0-9]+)(%?)")
_FORMS = "'all', 'top:6', 'top:30%' or a list of systems"


@dataclass(frozen=True)
class Pool:
    """Systems whose outputs say how hard the words of the references are.

    Attributes:
        systems: their names, in the order of the test set.
        how: how they were chosen, for people ("top 6 of 22 by human da-z").
        is_top: they are the best ones.
        human: the kind of human scores that chose them, if any did.
        identity: number of systems and a hash of their names and outputs, for signatures.
    """

    systems: tuple[str, ...]
    how: str
    human: str | None
    identity: str
    is_top: bool = False


def check_pool(pool: str | tuple[str, ...]) -> None:
    """Refuse what names no pool."""
    if isinstance(pool, str):
        match = _TOP.fullmatch(pool)
        if pool != "all" and (not match or int(match[1]) == 0):
            raise UsageError(f"{pool!r} names no pool of systems; give {_FORMS}")
        if match and match[2] and int(match[1]) > 100:
            raise UsageError(f"pool {pool!r}: there are no more than 100 %")
    elif not pool or len(set(pool)) < len(pool):
        given = ", ".join(pool) or "none"
        raise UsageError(f"a pool names one system or more, each once; got {given}")


def choose_pool(
    testset: TestSet, pool: str | tuple[str, ...] = "all", by: str | None = None
) -> Pool:
    """The systems of a pool.

    Args:
        testset: the test set.
        pool: "all"; "top:6", the best six; "top:30%", the best 30 % (rounded down); or names.
        by: what ranks systems for "top": a kind of human scores ("da-z"; by default the only one
            there is), or a metric ("bleu"). Ties go by name; systems without a score are not
            ranked.

    Raises:
        UsageError: the pool is of no known form, or would be empty.
        UnknownNameError: a named system, or the score to rank by, is not there.
        DataError: there are no human scores to rank by, or several kinds.
    """
    check_choice(testset.outline, pool, by)
    if not isinstance(pool, str):
        return _pool(testset, set(pool), f"{len(pool)} systems by name", None)
    if pool == "all":
        return _pool(testset, set(testset.systems), f"all {len(testset.systems)} systems", None)
    ranked, shown, human = _rank_systems(testset, by)
    wanted = _count_wanted(pool, len(ranked))
    how = f"top {wanted} of {len(ranked)} by {shown}"
    return replace(_pool(testset, set(ranked[:wanted]), how, human), is_top=True)


def check_choice(outline: Outline, pool: str | tuple[str, ...], by: str | None = None) -> int:
    """Refuse a pool that cannot be chosen from a test set, as far as its names tell.

    Says how many systems it has at most.
    """
    check_pool(pool)
    if not isinstance(pool, str):
        for name in pool:
            if name not in outline.systems:
                raise UnknownNameError("system of the pool", name, outline.systems)
        return len(pool)
    if pool == "all":
        return len(outline.systems)
    kinds = outline.human_kinds("system")
    if by is None and len(kinds) != 1:
        have = f"several kinds of human scores: {', '.join(kinds)}" if kinds else "none"
        raise DataError(
            f"a pool of the top systems needs scores to rank them, and {outline.name!r} has"
            f" {have}; say which (by=): a kind of human scores, or a metric such as 'bleu'"
        )
    if by is not None and by not in kinds:
        _check_score(by, outline, kinds)
    return _count_wanted(pool, len(outline.systems))


def _check_score(by: str, outline: Outline, kinds: tuple[str, ...]) -> None:
    from gnomon.metrics.registry import check_metric

    try:
        check_metric(by, outline)
    except UnknownNameError:
        raise UnknownNameError("score to rank systems by", by, [*kinds, "bleu", "chrf"]) from None


def _count_wanted(pool: str, ranked: int) -> int:
    match = _TOP.fullmatch(pool)
    number, share = (int(match[1]), match[2]) if match else (0, "")
    wanted = number * ranked // 100 if share else number
    if wanted == 0:
        raise UsageError(
            f"pool {pool!r} of {ranked} ranked systems holds none; at least"
            f" {math.ceil(100 / max(ranked, 1))} % are needed for one"
        )
    if wanted > ranked:
        raise UsageError(f"pool {pool!r}: only {ranked} systems have a score to be ranked by")
    return wanted


def _rank_systems(testset: TestSet, by: str | None) -> tuple[list[str], str, str | None]:
    """Systems, best first; by what; and the kind of human scores, if it was one."""
    kinds = testset.human_kinds("system")
    human: str | None
    if by is None or by in kinds:
        human = by or kinds[0]
        values, shown = testset.human_scores(human, "system"), f"human {human}"
    else:
        scores = _score_systems(testset, by)
        values, shown = scores.system, metric_title(by)
        human = by if scores.from_people else None
        values = values if scores.higher_is_better else -values
    keyed = zip(-values, testset.systems, strict=True)
    return [name for value, name in sorted(keyed) if not np.isnan(value)], shown, human


def _score_systems(testset: TestSet, by: str) -> Scores:
    from gnomon.metrics import score

    return score(testset, by)


def _pool(testset: TestSet, chosen: set[str], how: str, human: str | None) -> Pool:
    names = tuple(name for name in testset.systems if name in chosen)
    parts = [field for name in names for field in (name, *testset.systems[name])]
    texts = [field.encode("utf-8", "surrogatepass") for field in parts]
    return Pool(names, how, human, f"{len(names)}#{content_hash(*texts)}")


# Bound metrics with frozen difficulties.


class PooledMetric(OfOptions):
    """A metric whose words weigh what a pool of systems says.

    Attributes:
        metric: the options.
        base: the wrapped metric, bound.
        hardness: how hard each word was.
        pool: the systems that said so; None where difficulties came from a file.
    """

    metric: Difficulty
    base: BoundMetric
    hardness: Hardness | GramHardness | SegmentHardness
    pool: Pool | None

    @property
    def signature(self) -> Signature:
        """Spec, fields of the wrapped metric, and the pool with a hash of its outputs."""
        signature = replace(self.base.signature, spec=self.metric.spec)
        how = {} if self.pool is None else {"chosen": self.pool.how}
        return signature.adding({"pool": self.hardness.pool, **how})

    @property
    def depends_on_system(self) -> bool:
        """True if a system's words are weighed by the others alone."""
        return self.metric.leave_one_out

    @property
    def informed_by(self) -> tuple[str, ...]:
        """The kind of human scores that chose the pool, if any did."""
        chosen_by = [self.pool.human] if self.pool and self.pool.human else []
        return (*self.base.informed_by, *chosen_by, *self.hardness.human)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the difficulties to a file, for ``difficulty(METRIC, frozen='FILE')``.

        Raises:
            OutputError: the file cannot be written.
            UsageError: one system is left out at a time, so that there is no one list.
        """
        write_difficulties(
            path,
            self.hardness,
            self.base,
            leave_one_out=self.metric.leave_one_out,
            human=self.informed_by,
        )

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices of the wrapped metric, and of the pool."""
        return (*self.base.notices(batch), *pool_notices(self.metric.spec, self.pool))


def empty_notices(testset: TestSet, systems: Sequence[str]) -> list[Message]:
    """Which systems of a pool left segments empty, if more than 1 in 100 of them."""
    counts = {name: sum(not text.strip() for text in testset.systems[name]) for name in systems}
    return [
        message("difficulty.empty", empty=empty, segments=testset.segments, system=name)
        for name, empty in counts.items()
        if empty > _EMPTY_SHARE * testset.segments
    ]


def pool_notices(spec: str, pool: Pool | None) -> Iterator[Message]:
    """Notices for the reader of results with a pool."""
    about = {"metrics": (spec,)}
    if pool is None:
        yield message("note.difficulty.from_file").about(**about)
        return
    if len(pool.systems) == 1:
        yield message("note.difficulty.one_system", system=pool.systems[0]).about(**about)
    if pool.is_top:
        said = message("note.difficulty.top", how=pool.how, systems=pool.systems)
        yield said.about(**about)
    if pool.human is not None:
        yield message("note.difficulty.human", kind=pool.human).about(**about)
