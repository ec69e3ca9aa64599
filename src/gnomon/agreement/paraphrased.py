"""Paraphrased references by method and number, and metrics that score with them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.scores import Scores
from gnomon.core.testset import Paraphrase
from gnomon.data.formats import read_paraphrases
from gnomon.messages import message
from gnomon.messages.audiences import flag
from gnomon.metrics import score
from gnomon.metrics.diversity import lexical_values
from gnomon.metrics.means import mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gnomon.agreement.pairing import Wanted
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import AnyMetric

#: paraphrases of one test set, or files of them
Paraphrases: TypeAlias = Sequence[Paraphrase] | Sequence[str | PathLike[str]]


class FirstParaphrases(NamedTuple):
    """The first n paraphrases of each segment by one method."""

    method: str
    n: int
    paraphrases: tuple[Paraphrase, ...]

    @property
    def label(self) -> str:
        """Method and number."""
        return f"{self.method} {self.n}"


class ParaphraseFacts(NamedTuple):
    """Facts about the paraphrases of a test set."""

    diversity: float | None  # mean lexical distance among those of a segment
    segments: int  # that have one
    without: int  # segments that have none
    outputs: float  # share of them that are outputs of judged systems and no reference


class ComparedMetrics(NamedTuple):
    """A metric, and what it is compared with: itself without paraphrases, or the baseline."""

    metric: str
    base: str
    method: str | None = None  # of the paraphrases
    n: int | None = None  # paraphrases of each segment
    facts: Sequence[ParaphraseFacts | None] = ()  # of each test set


def paraphrases_by_set(
    given: Paraphrases | Sequence[Paraphrases], testsets: Sequence[TestSet]
) -> list[Sequence[Paraphrase]]:
    """The paraphrases of each test set, read where files are given; empty without any."""
    if not given:
        return []
    whole = isinstance(given[0], Paraphrase | str | PathLike)
    each = cast("Sequence[Paraphrases]", [given] if whole else given)
    if len(each) != len(testsets):
        raise UsageError(
            f"there are {len(testsets)} test sets and paraphrases of {len(each)}; give those of"
            " each test set, as a list of lists"
        )
    return [
        cast("Sequence[Paraphrase]", made)
        if not made or isinstance(made[0], Paraphrase)
        else read_paraphrases(cast("Sequence[str]", made), segments=testset.segments)
        for made, testset in zip(each, testsets, strict=True)
    ]


def first_paraphrases(
    paraphrases: Sequence[Paraphrase], numbers: Sequence[int], methods: Sequence[str] | None
) -> tuple[list[FirstParaphrases], list[Message]]:
    """Each method with each number of paraphrases, and notices.

    A number larger than any segment has is the same as the largest that one has.
    """
    by_method: dict[str, list[Paraphrase]] = defaultdict(list)
    for paraphrase in paraphrases:
        if paraphrase.text.strip():
            by_method[paraphrase.method].append(paraphrase)
    if not by_method:
        raise DataError(
            "there is no paraphrase to score with; name files with ", flag("paraphrases", "FILE")
        )
    chosen, notices = [], []
    for name in methods or by_method:
        if name not in by_method:
            raise UnknownNameError("method of paraphrases", name, by_method)
        counts: Counter[tuple[int, str | None]] = Counter()
        ranked = []
        for paraphrase in by_method[name]:
            counts[paraphrase.segment, paraphrase.system] += 1
            ranked.append((counts[paraphrase.segment, paraphrase.system], paraphrase))
        most = max(counts.values())
        larger = [number for number in sorted(set(numbers)) if number > most]
        if larger:
            notices.append(
                message("note.metaeval.few_paraphrases", method=name, most=most, larger=larger)
            )
        for n in sorted({min(number, most) for number in numbers}):
            kept = tuple(paraphrase for rank, paraphrase in ranked if rank <= n)
            chosen.append(FirstParaphrases(name, n, kept))
    return chosen, notices


def describe_paraphrases(testset: TestSet, first: FirstParaphrases) -> ParaphraseFacts:
    """Describe paraphrases: how diverse, of how many segments, and which are judged outputs."""
    groups: dict[tuple[int, str | None], list[str]] = defaultdict(list)
    for paraphrase in first.paraphrases:
        groups[paraphrase.segment, paraphrase.system].append(paraphrase.text)
    there = len({segment for segment, _ in groups})
    return ParaphraseFacts(
        diversity=mean(lexical_values(list(groups.values()))),
        segments=there,
        without=testset.segments - there,
        outputs=_share_of_outputs(testset, first.paraphrases),
    )


def _share_of_outputs(testset: TestSet, paraphrases: Sequence[Paraphrase]) -> float:
    info = testset.info
    judged = [t for s, t in testset.systems.items() if not (s in info and info[s].human)]
    same = 0
    for paraphrase in paraphrases:
        i, text = paraphrase.segment - 1, paraphrase.text.strip()
        references = {(column[i] or "").strip() for column in testset.references.values()}
        same += text not in references and any(text == outputs[i].strip() for outputs in judged)
    return same / len(paraphrases)


def score_with_paraphrases(
    testsets: Sequence[TestSet],
    metrics: Sequence[tuple[str | None, Wanted]],
    firsts: Sequence[Sequence[FirstParaphrases]],
    *,
    allow_code: bool,
    tick: Callable[[str, int, int], None] | None = None,
) -> Iterator[tuple[ComparedMetrics, list[Scores | None]]]:
    """Every metric that is to score with each method and number of paraphrases of each test set."""
    labels = dict.fromkeys((first.method, first.n) for of_set in firsts for first in of_set)
    scoring = [(n, m) for n, m in metrics if not isinstance(m, Scores | list | tuple)]
    for done, (method, n) in enumerate(labels):
        by_set = [
            next((first for first in of_set if (first.method, first.n) == (method, n)), None)
            for of_set in firsts
        ]
        wide = [
            None if first is None else testset.with_paraphrases(list(first.paraphrases))
            for testset, first in zip(testsets, by_set, strict=True)
        ]
        facts = [
            None if first is None else describe_paraphrases(testset, first)
            for testset, first in zip(testsets, by_set, strict=True)
        ]
        for name, metric in scoring:  # others are of the references that there were
            scores = [
                None
                if each is None
                else score(each, cast("AnyMetric", metric), allow_code=allow_code)
                for each in wide
            ]
            base = name or next(each.metric for each in scores if each is not None)
            compared = ComparedMetrics(f"{base}+{method} {n}", base, method, n, facts)
            yield compared, scores
        if tick:
            tick("scoring with paraphrases", done + 1, len(labels))
