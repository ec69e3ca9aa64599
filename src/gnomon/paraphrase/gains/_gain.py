"""The study of Bawden et al. (2020): gain by method, metric and number of paraphrases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.faults import refuse
from gnomon.findings import Finding
from gnomon.metrics import score
from gnomon.paraphrase._sets import check_trees
from gnomon.paraphrase.gains._agreement import (
    Draws,
    People,
    check_kinds,
    decisions,
    people_of,
    segment_rows,
    system_row,
)
from gnomon.paraphrase.gains._arms import Arm, Looked, arms_of, described
from gnomon.paraphrase.gains._requests import check_gain, parsed_language
from gnomon.paraphrase.gains._tables import TITLE, average_rows, tables, views
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gnomon.cache import Cache
    from gnomon.findings import Cell
    from gnomon.paraphrase._sets import Parses
    from gnomon.scores import Scores
    from gnomon.testset import Paraphrase

__all__ = ["gain"]


def gain(
    testsets: TestSet | Sequence[tuple[TestSet, Sequence[Paraphrase]]],
    paraphrases: Sequence[Paraphrase] = (),
    metrics: Sequence[str] = ("bleu",),
    *,
    n: Sequence[int] = (1, 5, 20),
    methods: Sequence[str] | None = None,
    human: Sequence[str] = (),
    adequacy: str | None = "chrf",
    trees: Mapping[str, Parses] | Sequence[Mapping[str, Parses]] | None = None,
    parse: bool = False,
    parser: str | None = None,
    language: str | None = None,
    over: str = "segments",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """What paraphrased references bring, by their method, their number, and metric.

    Each metric scores with the references as they are and with n paraphrases of one method beside
    them; both are held against people's judgements, over systems (Pearson's r, Williams's test,
    decisions repaired and broken) and over segments (DaRR where people ranked, Pearson and Kendall
    where they scored). Tables 2, 3 and 8 and figures 1 to 3 of Bawden et al. (2020).

    Args:
        testsets: one test set, or pairs of a test set and its paraphrases.
        paraphrases: those of the one test set.
        metrics: specs of metrics.
        n: numbers of paraphrases of each segment; a larger one than there are is the largest.
        methods: of the paraphrases, these alone.
        human: kinds of human scores and rankings; by default the only one of each level.
        adequacy: metric of the paraphrases against the references; None: none.
        trees: of the paraphrases, by method, for the syntactic diversity; of several test sets,
            one mapping for each.
        parse: parse what has no trees, by the standard pipeline of the language that each test set
            is translated into.
        parser: ``spacy:NAME``, which does that instead.
        language: its standard pipeline does.
        over: what is resampled for the intervals over systems: "segments" (would another text give
            this gain?) or "systems" (would other systems?).
        resamples: draws; 0: no intervals.
        confidence: of the intervals.
        seed: of the draws.
        allow_code: let a spec ``python('module:function')`` run code.
        cache: where parses are kept.
        progress: called with a stage, what is done, and the total.

    Returns:
        A finding whose rows hold ``test_set, metric, method, n, base, value, gain, low, high, p,
        repaired, broken, pairs, base_score, score, diversity, syntactic, change, adequacy, ...``;
        further tables: "segments", "decisions", "averages" (of several test sets).

    Raises:
        DataError: a test set has no paraphrase, or several kinds of human scores and none named;
            trees are not parallel to a test set; the language to parse is not known.
        UnknownNameError: there is no such method, no such kind of human scores in any test set, or
            nothing of the kind to resample.
        UsageError: a number is out of its range.
    """
    sets = [(testsets, paraphrases)] if isinstance(testsets, TestSet) else list(testsets)
    refuse(
        check_gain(
            sets[0][0].outline if len(sets) == 1 else None, metrics, n=n, human=human,
            adequacy=adequacy, parse=parse, parser=parser, language=language, over=over,
            resamples=resamples, confidence=confidence, seed=seed, allow_code=allow_code,
        )
    )  # fmt: skip
    draws = Draws(resamples, seed, confidence, over)
    check_kinds([testset.outline for testset, _ in sets], human)
    looked = Looked(adequacy, None, parser, language, cache, allow_code)
    looks = [
        looked._replace(trees=own, language=_language(testset, looked, parse=parse))
        for (testset, _), own in zip(sets, _trees_of(trees, sets), strict=True)
    ]
    study = _Study(metrics, draws, looked, human, progress)
    for (testset, made), look in zip(sets, looks, strict=True):
        study.looked = look
        place = _place(testset, sets)
        arms, said = arms_of(made, n, methods)
        study.notices += [f"{place}: {one}" if len(sets) > 1 else one for one in said]
        study.add(place, testset, arms)
    rows = study.rows
    rows["averages"] = average_rows(rows["gain"]) if len(sets) > 1 else []
    return Finding(
        method="paraphrase gain",
        title=TITLE,
        tables=tables(rows),
        signatures=study.signatures,
        views=views(rows),
        notices=(*study.notices, *_unjudged(rows["gain"])),
        facts={
            "test sets": ", ".join(_place(testset, sets) for testset, _ in sets),
            "segments": ", ".join(str(testset.segments) for testset, _ in sets),
            "adequacy": adequacy or "not measured",
            "intervals": f"{resamples} resamples of {over}, seed {seed}",
        },
    )


class _Study:
    """Rows, signatures and notices of one test set after the other."""

    def __init__(
        self,
        metrics: Sequence[str],
        draws: Draws,
        looked: Looked,
        human: Sequence[str],
        progress: Callable[[str, int, int], None] | None,
    ) -> None:
        self._metrics, self._draws, self.looked = metrics, draws, looked
        self._human, self._progress = human, progress
        self.rows: dict[str, list[dict[str, Cell]]] = {"gain": [], "segments": [], "decisions": []}
        self.signatures: dict[str, str] = {}
        self.notices: list[str] = []

    def add(self, place: str, testset: TestSet, arms: Sequence[Arm]) -> None:
        """Score a test set with each arm and without."""
        people, code = people_of(testset, self._human), self.looked.allow_code
        before = {metric: score(testset, metric, allow_code=code) for metric in self._metrics}
        for done, arm in enumerate(arms, start=1):
            seen = described(testset, arm, self.looked)
            wide = testset.with_paraphrases(list(arm.paraphrases))
            for metric, base in before.items():
                after = score(wide, metric, allow_code=code)
                self._judge(_head(place, metric, arm), people, base, after, seen)
            if self._progress is not None:
                self._progress(f"scoring {place}", done, len(arms))

    def _judge(
        self,
        head: Mapping[str, Cell],
        people: People,
        base: Scores,
        after: Scores,
        seen: Mapping[str, Cell],
    ) -> None:
        decided = decisions(people, base, after)
        counts = {name: decided[name] for name in ("repaired", "broken", "pairs")}
        found = system_row(people, base, after, self._draws)
        self.rows["gain"].append({**head, **found, **counts, **seen})
        if decided["pairs"]:
            self.rows["decisions"].append({**head, **decided})
        for one in segment_rows(people, base, after, self._draws):
            self.rows["segments"].append({**head, **one})
        name = ", ".join(str(head[key]) for key in ("metric", "arm", "test_set"))
        self.signatures[name] = str(after.signature)


def _trees_of(
    trees: Mapping[str, Parses] | Sequence[Mapping[str, Parses]] | None,
    sets: Sequence[tuple[TestSet, object]],
) -> list[Mapping[str, Parses]]:
    """The trees of each test set, which fit it."""
    given: Sequence[Mapping[str, Parses]]
    if not trees:
        given = [{}] * len(sets)
    elif isinstance(trees, Sequence):
        given = trees
    else:
        given = [trees]
    if len(given) != len(sets):
        raise DataError(
            f"there are trees of {len(given)} test set(s), and {len(sets)} test set(s); each has"
            " its own paraphrases, and so its own trees"
        )
    for (testset, _), own in zip(sets, given, strict=True):
        check_trees(own, testset.segments)
    return list(given)


def _language(testset: TestSet, looked: Looked, *, parse: bool) -> str | None:
    """Whose standard pipeline parses a test set; None: none does."""
    if looked.language or looked.parser or not parse:
        return looked.language
    return parsed_language(testset.outline)


def _head(place: str, metric: str, arm: Arm) -> dict[str, Cell]:
    return {
        "test_set": place,
        "metric": metric,
        "method": arm.method,
        "n": arm.n,
        "arm": f"{arm.method} {arm.n}",
    }


def _place(testset: TestSet, sets: Sequence[tuple[TestSet, object]]) -> str:
    """What to call a test set: its pair, with its name where two have one pair."""
    pair = testset.language_pair
    if pair and sum(other.language_pair == pair for other, _ in sets) == 1:
        return pair
    return testset.name if not pair or pair in testset.name else f"{testset.name} {pair}"


def _unjudged(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    bare = dict.fromkeys(str(row["test_set"]) for row in rows if row["value"] is None)
    return [
        f"{place}: people scored fewer than three systems, so that there is no r" for place in bare
    ]
