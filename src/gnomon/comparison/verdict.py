"""Sentences on a comparison of systems."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.agreement.meaning import describe_class
from gnomon.comparison.meanings import DifferenceMeaningRow
from gnomon.comparison.rows import (
    SYSTEMS,
    ComparisonRow,
    is_baseline_best,
    tested_by,
)
from gnomon.core.data_cautions import select_messages
from gnomon.core.verdicts import LEAST, empty_outputs, further_segments, titles_of
from gnomon.judges.verdict import judge_title
from gnomon.messages import message
from gnomon.messages.grammar import amount, listed
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gnomon.comparison.rows import Outcome
    from gnomon.core.findings import Finding
    from gnomon.messages import Message

#: shares of segments without a score above this are said first
_MISSING = 0.01
#: p this near to the least that draws can show is that one
_SAME = 1e-9
#: design effects above this are said
_CLUSTERED = 1.2


class _SystemPair(NamedTuple):
    """A row of two systems, and what its metric is called."""

    row: ComparisonRow
    position: int
    title: str
    family: dict[str, Any] | None  # of comparisons that are decided at once

    @property
    def metric_fields(self) -> dict[str, Any]:
        """Whose scores they are."""
        judge = judge_title(self.title) != self.title
        who = "people" if self.row.people else "judge" if judge else "metric"
        return {"metric": self.title, "under": who, "points": who}

    @property
    def ahead(self) -> str:
        """Which way the difference points."""
        if self.row.gain is None:
            return "undefined"
        return "level" if self.row.equal else "ahead" if self.row.gain > 0 else "behind"

    @property
    def tested(self) -> dict[str, Any]:
        """Result of the test; a bound where draws can show no smaller p."""
        row = self.row
        least = row.p if row.p is not None and row.p <= row.p_least * (1 + _SAME) else None
        return {"tested": "no" if row.p is None else "p", "p": row.p, "least": least}

    @property
    def difference(self) -> dict[str, Any]:
        """Distance of the system from the baseline, with its interval."""
        low, high = self.row.gain_ends
        decided = self.row.decided or False
        return {"gain": self.row.gain, "low": low, "high": high, "decided": decided}

    @property
    def lead(self) -> dict[str, Any]:
        """Lead of the baseline, and the reason why this is undecided."""
        (low, high), row = self.row.gain_ends, self.row
        ends = (None, None) if low is None or high is None else (-high, -low)
        return {
            "system": row.system,
            "behind": "lead" if row.gain else "same",
            "lead": -(row.gain or 0.0),
            "low": ends[0],
            "high": ends[1],
            "decided": row.decided or False,
            **self.unproven,
            **self.tested,
        }

    @property
    def unproven(self) -> dict[str, Any]:
        """Reason why a difference is undecided where there is no interval."""
        known = {"by document": "document", "different": "different", "skewed": "skewed"}
        untested = self.row.gain_ends != (None, None) or self.row.p is None
        return {
            "unproven": known.get(self.row.caveat or "", None if untested else "p"),
            "p_documents": self.row.p_documents or 0.0,
            "different": self.row.different,
        }

    @property
    def size_fields(self) -> dict[str, Any]:
        """The segments that it rests on."""
        return _count_segments([self])

    @property
    def rows(self) -> dict[str, list[int]]:
        return {SYSTEMS: [self.position]}

    @property
    def sentence_fields(self) -> dict[str, Any]:
        """Parts of all sentences of two systems."""
        row = self.row
        return {
            "system": row.system,
            "baseline": row.baseline,
            "ahead": self.ahead,
            **self.metric_fields,
            **self.difference,
            **self.tested,
            **self.size_fields,
            "family": self.family,
        }


def _count_segments(pairs: Sequence[_SystemPair]) -> dict[str, Any]:
    """On how many segments differences rest, and in how many documents where these are drawn."""
    sizes, by_document = [pair.row.segments for pair in pairs], pairs[0].row.unit == "document"
    return {
        "fewest": min(sizes) if min(sizes) < max(sizes) else None,
        "segments": max(sizes),
        "documents": max(pair.row.documents or 0 for pair in pairs) if by_document else None,
    }


def compare_verdict(finding: Finding) -> Iterator[Message]:
    """The best system of several, or which of two is better, under each metric; cautions."""
    every = list(_rows(finding))
    whole = [pair for pair in every if pair.row.slice is None]
    metrics = list(dict.fromkeys(pair.row.metric for pair in whole))
    several = len({pair.row.system for pair in whole}) > 1
    sound = [pair for pair in whole if not pair.row.few]
    # cautions that could change the answer come first
    yield from _empty(finding)
    yield from _missing(finding)
    chosen = is_baseline_best(finding)
    for metric in metrics:
        of_metric = [pair for pair in sound if pair.row.metric == metric]
        overtaken = any(pair.row.outcome == "better" for pair in of_metric)
        if chosen and not overtaken:
            yield from _best(finding, of_metric)
        elif several and of_metric:
            yield from _say_outcomes(of_metric)
        else:
            yield from map(_alone, of_metric)
    if not several:
        yield from _slices([pair for pair in every if pair.row.slice is not None])
    yield from _meanings(finding, sound)
    yield from _disagreement(sound)
    together = [
        pair
        for pair in whole
        if pair.row.people and pair.row.unit == "segment" and not pair.row.documents
    ]
    if together:
        titles = " and ".join(dict.fromkeys(pair.title for pair in together))
        yield message("human.no_documents", _places(together), source=titles)
    yield from _say_clusters(sound)
    yield from _few(every)
    yield from select_messages("score.cut", finding.notices)


def _rows(finding: Finding) -> Iterator[_SystemPair]:
    titles = titles_of(finding)
    chosen = is_baseline_best(finding)
    families = {
        (metric, sliced): _family(finding, metric, sliced=sliced, chosen=chosen)
        for metric in titles
        for sliced in (False, True)
    }
    for position, row in enumerate(finding.records(ComparisonRow)):
        if row.system != row.baseline:
            family = families[row.metric, row.slice is not None]
            yield _SystemPair(row, position, titles[row.metric], family)


def _family(finding: Finding, metric: str, *, sliced: bool, chosen: bool) -> dict[str, Any] | None:
    """The family that is decided at once with a comparison; None where it stands alone."""
    rows = [row for row in finding.records(ComparisonRow) if row.metric == metric]
    systems = len({row.system for row in rows})
    slices = len({row.slice for row in rows} - {None})
    pairs = systems * (systems - 1) // 2 if chosen else systems - 1
    count = pairs * (slices if sliced else 1)
    signature = finding.signatures[metric]
    test, confidence = str(signature.get("test")), signature.get("confidence")
    if count < 2 or (confidence is None and test != "sacrebleu"):
        return None
    return {
        "adjusted": test,
        "confidence": None if confidence is None else 100 * float(confidence),
        "comparisons": count,
        "of": "slices" if sliced else "pairs",
    }


def _alone(pair: _SystemPair) -> Message:
    """Two systems under one metric."""
    if pair.row.gain is None:
        return message("compare.undefined", pair.rows, **pair.sentence_fields)
    if pair.row.same:
        return message("compare.same", pair.rows, **pair.sentence_fields)
    if pair.row.outcome not in ("better", "worse"):
        return _say_undecided(pair)
    code = "compare.better" if pair.row.outcome == "better" else "compare.worse"
    return message(code, pair.rows, **pair.sentence_fields)


def _say_undecided(pair: _SystemPair) -> Message:
    """Two systems without a significant difference, and why."""
    row, parts = pair.row, pair.sentence_fields
    if row.outcome is None:
        return _say_untested([pair], pair.rows)
    if row.caveat in ("different", "skewed"):
        parts |= {"which": row.caveat, "different": row.different}
        return message("compare.few_different", pair.rows, **parts)
    if row.caveat == "by document":
        parts |= {"known": row.documents or 0, "p_documents": row.p_documents or 0.0}
        return message("compare.by_document", pair.rows, **parts)
    return message("compare.undecided", pair.rows, more=_further(row), **parts)


def _say_untested(
    pairs: Sequence[_SystemPair], places: dict[str, list[int]], **best: Any
) -> Message:
    """Differences that nothing tested: of systems and a baseline, or of the best of several."""
    row = pairs[0].row
    return message(
        "compare.untested",
        places,
        said="best" if best else "pairs",
        pairs=[pair.sentence_fields for pair in pairs],
        why="documents" if row.caveat == "documents" else "resamples",
        known=row.documents or 0,
        least_documents=LEAST_DOCUMENTS,
        **best,
        **pairs[0].metric_fields,
        **_count_segments(pairs),
    )


def _further(row: ComparisonRow) -> int | None:
    """Number of further segments that would decide."""
    low, high = row.gain_ends
    if row.gain is None or low is None or high is None:
        return None
    return further_segments(row.segments, row.gain, low, high)


def _best(finding: Finding, pairs: Sequence[_SystemPair]) -> Iterator[Message]:
    """Of several systems under one metric, those that are not worse than the one that leads."""
    others = [pair for pair in pairs if pair.row.gain is not None]
    if not others:
        return
    leader = others[0].row.baseline
    rows = [
        row
        for row in finding.records(ComparisonRow)
        if (row.metric, row.slice) == (others[0].row.metric, None) and row.score is not None
    ]
    top = next(row for row in rows if row.system == leader)
    places = finding.positions(rows)
    best = {"leader": leader, "systems": len(rows), "score": top.score or 0.0}
    if all(pair.row.outcome is None for pair in others):
        yield _say_untested(others, places, **best)
        return
    by_gain = sorted(others, key=lambda pair: pair.row.gain or 0.0, reverse=True)
    worse = [pair for pair in by_gain if pair.row.outcome == "worse"]
    rest = [pair for pair in by_gain if pair.row.outcome != "worse"]
    near = [pair for pair in rest if pair.row.beaten_by is None]
    beaten = [
        {"system": pair.row.system, "beaten_by": pair.row.beaten_by}
        for pair in rest
        if pair.row.beaten_by
    ]
    parts = {
        **best,
        **others[0].metric_fields,
        **_count_segments(others),
        "family": others[0].family,
    }
    if not near and worse:
        yield message("compare.best", places, next=worse[0].lead, **parts)
        return
    yield message(
        "compare.leaders",
        places,
        best=[leader, *(pair.row.system for pair in near)],
        near=[pair.lead for pair in near],
        others=bool(beaten),
        beaten=beaten,
        next=worse[0].lead if worse else None,
        **parts,
    )


def _say_outcomes(pairs: Sequence[_SystemPair]) -> Iterator[Message]:
    """Several systems and a baseline that was named: a statement for those of each outcome."""
    shared = {"baseline": pairs[0].row.baseline, **pairs[0].metric_fields, **_count_segments(pairs)}
    for outcome in ("better", "worse"):
        some = _sort_pairs(pairs, outcome)
        if len(some) == 1:
            yield _alone(some[0])
        elif some:
            each = _collect_results([(pair.row.system, pair) for pair in some])
            yield message(
                "compare.several",
                _places(some),
                outcome=outcome,
                systems=len(some),
                family=some[0].family,
                **shared,
                **each,
            )
    rest = [pair for pair in pairs if pair.row.outcome not in ("better", "worse")]
    if len(rest) == 1:
        yield _alone(rest[0])
    elif rest and all(pair.row.outcome is None for pair in rest):
        yield _say_untested(rest, _places(rest))
    elif rest:
        each_of = [{**pair.sentence_fields, **pair.unproven} for pair in rest]
        parts = {**shared, "each": each_of, "family": rest[0].family}
        yield message("compare.several_undecided", _places(rest), **parts)


def _collect_results(some: Sequence[tuple[str, _SystemPair]]) -> dict[str, Any]:
    """Results of the tests, where they are the same for all, with the difference of each."""
    alike = len({tested_by(pair.row) for _, pair in some}) == 1
    each = [
        {"name": name, "alone": not alike, **pair.difference, **pair.tested} for name, pair in some
    ]
    return {"each": each, "alike": alike, "every": len(some) > 1, **some[0][1].tested}


def _sort_pairs(pairs: Iterable[_SystemPair], outcome: Outcome) -> list[_SystemPair]:
    """Those of an outcome, the largest differences first."""
    some = (pair for pair in pairs if pair.row.outcome == outcome)
    return sorted(some, key=lambda pair: -abs(pair.row.gain or 0))


def _places(some: Iterable[_SystemPair]) -> dict[str, list[int]]:
    return {SYSTEMS: [pair.position for pair in some]}


def _slices(parts: Sequence[_SystemPair]) -> Iterator[Message]:
    """Where one system is better than the other, and where worse."""
    for metric in dict.fromkeys(pair.row.metric for pair in parts):
        of_metric = [pair for pair in parts if pair.row.metric == metric and not pair.row.few]
        for outcome in ("better", "worse"):
            some = _sort_pairs(of_metric, outcome)
            if some:
                yield message(
                    "compare.slice",
                    _places(some),
                    outcome=outcome,
                    metric=some[0].title,
                    system=some[0].row.system,
                    family=some[0].family,
                    **_collect_results([(pair.row.slice or "", pair) for pair in some]),
                )


def _meanings(finding: Finding, sound: Sequence[_SystemPair]) -> Iterator[Message]:
    """Say how often people agreed with such differences in other test sets."""
    titles = titles_of(finding)
    read = {(pair.row.metric, pair.row.system) for pair in sound}
    rows = [r for r in finding.records(DifferenceMeaningRow) if (r.metric, r.system) in read]
    for metric in dict.fromkeys(row.metric for row in rows):
        of_metric = [row for row in rows if row.metric == metric]
        seen = [row for row in of_metric if row.share is not None]
        if seen:
            yield _what_it_meant(finding, seen, titles[metric])
        beyond = [row for row in of_metric if row.share is None]
        if beyond:
            systems = [f"{row.system} and {row.baseline}" for row in beyond]
            yield message(
                "compare.meaning_beyond",
                finding.positions(beyond),
                sets=beyond[0].test_sets,
                systems=listed(systems),
                seen=amount(beyond[0].seen, unit=titles[metric]),
            )
    outside = [row for row in rows if row.outside]
    if outside:
        first = outside[0]
        places = finding.positions(outside)
        yield message("compare.meaning_elsewhere", places, known=first.known, outside=first.outside)


def _what_it_meant(finding: Finding, rows: Sequence[DifferenceMeaningRow], title: str) -> Message:
    """The classes of differences of some systems, smallest first."""
    first, named = rows[0], len(rows) > 1
    classes: dict[tuple[float, float], list[DifferenceMeaningRow]] = {}
    for row in sorted(rows, key=lambda row: row.difference):
        classes.setdefault((row.smallest or 0.0, row.largest or 0.0), []).append(row)
    return message(
        "metaeval.delta_accuracy.classes",
        finding.positions(rows),
        sets=[first.test_sets],
        classes=[
            describe_class(
                ends,
                (some[0].share or 0.0, *some[0].ends("share")),
                None if n else title,
                [row.system for row in some] if named else (),
            )
            for n, (ends, some) in enumerate(classes.items())
        ],
        n=max(some[0].sets or 0 for some in classes.values()),
        pairs=sum(some[0].pairs or 0 for some in classes.values()),
        human=[first.judgements],
    )


def _empty(finding: Finding) -> Iterator[Message]:
    """Empty outputs, system by system."""
    total = int(finding.facts["segments"])
    rows = [row for row in finding.records(ComparisonRow) if row.slice is None]
    empty = {row.system: row.empty for row in rows}
    places = [row for row in rows if empty[row.system] > _MISSING * total]
    yield from empty_outputs(empty, total, finding.positions(places))


def _missing(finding: Finding) -> Iterator[Message]:
    """Scores that are missing, system by system, under each metric."""
    titles, total = titles_of(finding), int(finding.facts["segments"])
    rows = [row for row in finding.records(ComparisonRow) if row.slice is None]
    for metric in dict.fromkeys(row.metric for row in rows):
        lacking = [row for row in rows if row.metric == metric and row.missing > _MISSING * total]
        if lacking:
            most_first = sorted(lacking, key=lambda row: -row.missing)
            yield message(
                "compare.missing",
                finding.positions(lacking),
                title=titles[metric],
                missing=[{"n": row.missing, "system": row.system} for row in most_first],
                segments=total,
            )


def _say_clusters(sound: Sequence[_SystemPair]) -> Iterator[Message]:
    decided = (pair for pair in sound if pair.row.outcome in ("better", "worse"))
    alone = [pair for pair in decided if pair.row.documents == 1]
    if alone:
        yield message("compare.clustered", _places(alone), found="one")
    by_metric: dict[str, list[_SystemPair]] = {}
    for pair in sound:
        by_segment = pair.row.unit == "segment" and (pair.row.documents or 0) > 1
        if by_segment and pair.row.caveat != "by document" and pair.row.design_effect is not None:
            by_metric.setdefault(pair.row.metric, []).append(pair)
    for pairs in by_metric.values():
        effect = fmean(pair.row.design_effect or 0.0 for pair in pairs)
        if effect <= _CLUSTERED:
            continue
        documents = max(pair.row.documents or 0 for pair in pairs)
        yield message(
            "compare.clustered",
            _places(pairs),
            found="several",
            wider=effect**0.5 - 1,
            known=documents,
            what="enough" if documents >= LEAST_DOCUMENTS else "few",
            least=LEAST_DOCUMENTS,
            **pairs[0].metric_fields,
        )
        return


def _disagreement(sound: Sequence[_SystemPair]) -> Iterator[Message]:
    """Systems that one metric calls better and another one worse."""
    by_system: dict[str, list[_SystemPair]] = {}
    for pair in sound:
        if pair.row.outcome in ("better", "worse"):
            by_system.setdefault(pair.row.system, []).append(pair)
    split = {
        name: pairs
        for name, pairs in by_system.items()
        if len({pair.row.outcome for pair in pairs}) > 1
    }
    if not split:
        return
    each = [
        {
            "system": name,
            **{
                outcome: [pair.title for pair in pairs if pair.row.outcome == outcome]
                for outcome in ("better", "worse")
            },
        }
        for name, pairs in split.items()
    ]
    every = (pair for pairs in split.values() for pair in pairs)
    yield message("compare.disagree", _places(every), each=each)


def _few(every: Sequence[_SystemPair]) -> Iterator[Message]:
    """Say what rests on too few segments: all for whole test sets, of slices what stands out."""
    some = [
        pair
        for pair in every
        if pair.row.few and (pair.row.slice is None or pair.row.outcome in ("better", "worse"))
    ]
    if not some:
        return
    whole = all(pair.row.slice is None for pair in some)
    names = dict.fromkeys(pair.row.system if whole else str(pair.row.slice) for pair in some)
    names |= {some[0].row.baseline: None} if whole else {}
    n = max(pair.row.segments for pair in some)
    few: dict[str, Any] = {"of": list(names), "n": n, "unit": "segment", "least": LEAST}
    yield message("data.few", _places(some), **few)
