"""Blind sheets of outputs, of MuLER's pairs or of paraphrases, written and read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.errors import DataError, OutputError, UsageError
from gnomon.core.findings import ExhibitText, Finding, Listing
from gnomon.core.manifest import imported
from gnomon.core.options import (
    CONFIDENCE,
    SEED,
    Confidence,
    Flags,
    Group,
    InputFile,
    Limits,
    Metavar,
    OutputFile,
    Positive,
    Seed,
    expand_fields,
)
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.run_settings import Run
from gnomon.core.signature import Signature, content_hash
from gnomon.core.testset import TestSet
from gnomon.data.formats import write_together
from gnomon.human import answers as said
from gnomon.human.sheet_inputs import check_sheet, sheet_inputs
from gnomon.human.sheet_verdict import DRAWN, PAIRS, DrawnRow, sheet_verdict
from gnomon.human.sheets import (
    Origin,
    SheetItem,
    key_text,
    make_sheet,
    read_answers,
    read_key,
    sheet_text,
    sheet_workbook,
)
from gnomon.linguistics import Features, FeatureSources
from gnomon.messages.audiences import flag
from gnomon.metrics.base import Metrics
from gnomon.muler.contrasting import PairRow, Thresholds, WordChoice, draw, draw_contrasts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.core.findings import Table
    from gnomon.messages import Message
    from gnomon.muler.contrasting import Contrasts

_TITLE = "What is on the sheet"
_WHAT, _FILES, _MULER = (
    Group("items"),
    Group("sheet and key"),
    Group("pairs that MuLER tells apart"),
)
_MISSING = {"paraphrases": ("; name files with ", flag("paraphrases", "FILE"))}
_EXAMPLES = """\
Write a blind sheet, and its key apart; give annotators the sheet or the form, never the key. What
they filled in is read back with the key.

examples:
  gnomon human sheet -t wmt24/en-cs --save sheet.tsv --form sheet.html --key key.tsv
  gnomon human sheet -t newstest2019/de-en --from muler --features 'pos:*' 'ent:*' \\
    --save sheet.tsv --key key.tsv
  gnomon human sheet ref.txt --paraphrases made.jsonl --from paraphrases --form sheet.html \\
    --key key.tsv
  gnomon human sheet --read anna.tsv answers-of-ben.tsv --key key.tsv
"""


@method(
    "human.sheet",
    purpose="write blind sheets of outputs or paraphrases for people, and read their answers",
    title="Blind sheets",
    given=sheet_inputs,
    unread=("documents", "domains"),
    examples=_EXAMPLES,
    rows={
        PAIRS: PairRow,
        DRAWN: DrawnRow,
        said.PREFERENCES: said.PreferenceRow,
        said.SCORES: said.ScoredRow,
        said.ANNOTATORS: said.AnnotatorPairRow,
        said.ANSWERS: said.AnswerRow,
    },
    systems=False,
    tagged=True,
    verdict=sheet_verdict,
    check=check_sheet,
)
@expand_fields(sources=FeatureSources, run=Run)
def sheet(
    testset: TestSet | None = None,
    metrics: Metrics = "bleu",
    features: Features = None,
    *,
    origin: Annotated[Origin, Flags(("--from",), alone=True), _WHAT] = "outputs",
    scalar: Annotated[bool, _WHAT] = False,
    items: Annotated[Positive, _WHAT] = 100,
    max_score_gap: Annotated[float, Limits(0), Metavar("UNITS"), _MULER] = 1.0,
    min_muler_gap: Annotated[float, Limits(0), Metavar("X"), _MULER] = 0.1,
    sources: FeatureSources,
    save: Annotated[OutputFile, _FILES] = None,
    form: Annotated[OutputFile, _FILES] = None,
    read: Annotated[Sequence[str | PathLike[str]], InputFile(), Metavar("FILE"), _FILES] = (),
    key: Annotated[str | PathLike[str], InputFile(), Metavar("FILE"), _FILES],
    confidence: Confidence = CONFIDENCE,
    seed: Annotated[Seed, _WHAT] = SEED,
    run: Run,
) -> Finding:
    """Write a blind sheet for people to fill in, or read filled ones back.

    Of outputs, two of one segment stand side by side, drawn evenly over pairs of systems where they
    differ; or (``scalar``) single ones are scored from 0 to 100. From MuLER (Karidi et al., table
    10), the two are of systems alike in score and far apart in MuLER on a feature, in segments that
    have the feature on both sides and cost the two unequally much: evenly over features, then
    pairs, no segment twice for a feature. Paraphrases are scored, those of all methods mixed;
    segments that most methods paraphrase are drawn first. The order of items, and which output
    comes first, is random.

    Args:
        testset: outputs, or references with paraphrases; none where answers are read.
        metrics: one, for pairs that MuLER tells apart.
        features: the features on which pairs are apart, and whose words are marked.
        origin: the texts to judge: "outputs", pairs that "muler" tells apart, or "paraphrases".
        scalar: ask for scores of single outputs from 0 to 100, in place of a choice between two.
        items: the largest number of items on the sheet (for each system or method, where they are
            scored).
        max_score_gap: the largest difference of their scores, in the metric's own units.
        min_muler_gap: the smallest difference of their MuLER.
        save: the file of the sheet as a table, .tsv or .xlsx.
        form: the file of the sheet as a page to fill in, .html.
        read: filled sheets (.tsv, .xlsx), or files that the form saved (.tsv), to evaluate; open
            items do not count.
        key: the file of the key, which tells the systems on the sheet: written with it, and read
            with the answers.

    Returns:
        A finding that says what is on the sheet: for MuLER the pairs, the widest gap first. Of
        answers, rows ``annotator, feature, system, other, items, open, preferred, other_preferred,
        ties, share, low, high, p`` (exact interval and binomial test against one half; of
        several annotators first the majority), a table "annotators" (Cohen's kappa for every two)
        and Krippendorff's alpha; or of scores ``system, score, low, high, items, segments, alone``.
        Table "answers" holds every answer with the names of the systems.

    Raises:
        DataError: nothing can be drawn, no pair of systems fits, or no item was answered; the
            message says how near the closest pair came.
        UsageError: an option is out of range, or nothing says whether to write or to read.
        FormatError: a file is malformed, or an answer is to an item that the key does not know.
        OutputError: a file cannot be written.
        MaskingError: the metric cannot tell two masks apart.
        UnknownNameError: a metric, feature or tagger does not exist.
    """
    if read:
        known = read_key(key)
        filled = read_answers(read, known)
        return said.answers_finding(filled, known, confidence=confidence, seed=seed)
    if testset is None:
        raise UsageError("a sheet is made of a test set; name one")
    if origin == "muler":
        limits = Thresholds(max_score_gap, min_muler_gap)
        found = draw_contrasts(
            testset,
            metrics,
            WordChoice.create(sources, features),
            limits,
            items=items,
            seed=seed,
            run=run,
        )
        drawn = _draw_muler_pairs(found, items)
    elif scalar or origin == "paraphrases":
        drawn = _draw_single_texts(testset, _group_by_segment(testset, origin), items, seed)
    else:
        drawn = _draw_output_pairs(testset, items, seed)
    how = Signature(f"from:{origin}").adding(
        scalar="yes" if scalar else "no", items=items, seed=seed
    )
    made_by = next(iter(drawn.signatures.values()), how)
    blind, told = make_sheet(drawn.items, origin, str(made_by))
    texts: dict[str | PathLike[str], str | bytes] = {key: key_text(told)}
    if Path(key).resolve() in [Path(path).resolve() for path in (save, form) if path is not None]:
        raise UsageError(f"sheet and key are to be two files; {fspath(key)} is both")
    if save is not None:
        workbook = fspath(save).endswith(".xlsx")
        texts[save] = sheet_workbook(blind, scalar=told.scalar) if workbook else sheet_text(blind)
    if form is not None:
        make = imported("gnomon.report.sheet:render_form")
        texts[form] = make(blind.items, study=blind.study, question=blind.question)
    _keep_answers(texts)
    write_together(texts)
    return Finding(
        method="human sheet",
        title=_TITLE,
        tables=(drawn.table,),
        signatures=drawn.signatures,
        views=(Listing(drawn.table.name, _TITLE, tuple(c.name for c in drawn.table.columns)),),
        notices=tuple(drawn.notices),
        facts={
            "test set": testset.name,
            **drawn.facts,
            "study": blind.study,
            "items": str(len(drawn.items)),
            "items asked for": str(drawn.wanted),
        },
    )


def _keep_answers(texts: Mapping[str | PathLike[str], str | bytes]) -> None:
    """Refuse to write over a sheet that may be filled in, or the key of another one."""
    for path, text in texts.items():
        if Path(path).is_dir():
            raise OutputError(f"{fspath(path)} is a folder; name a file in it")
        content = text if isinstance(text, bytes) else text.encode()
        if Path(path).exists() and Path(path).read_bytes() != content:
            raise OutputError(
                f"{fspath(path)} exists, and is another sheet or key, or has answers; name another"
                " file, or delete it"
            )


class _SheetDraw(NamedTuple):
    """A draw, and a table of it."""

    table: Table
    items: Sequence[SheetItem]
    wanted: int
    signatures: Mapping[str, Signature] = {}
    notices: Sequence[Message] = ()
    facts: Mapping[str, str] = {}


def _draw_muler_pairs(found: Contrasts, items: int) -> _SheetDraw:
    shown = [
        SheetItem(item.texts, item.segment, *item.systems, item.feature, item.better)
        for item in found.items
    ]
    pairs = table(PAIRS, _TITLE, PairRow, found.rows)
    return _SheetDraw(pairs, shown, items, found.signatures, found.notices, found.facts)


class _OutputPair(NamedTuple):
    """Two systems, and the segments where their outputs differ; see HasSegments."""

    feature: str
    systems: tuple[str, str]
    segments: NDArray[np.int64]


def _draw_output_pairs(testset: TestSet, items: int, seed: int) -> _SheetDraw:
    """Outputs of two systems side by side, evenly over pairs of systems."""
    pairs = []
    for number, (a, b) in enumerate(combinations(testset.systems, 2)):
        both = zip(testset.systems[a], testset.systems[b], strict=True)
        # nobody sees a difference of spaces
        differ = np.flatnonzero([ours.split() != theirs.split() for ours, theirs in both])
        pairs.append(_OutputPair(str(number), (a, b), differ))
    every = [text for texts in testset.systems.values() for text in texts]
    rng = np.random.default_rng([seed, int(content_hash(*every), 16)])
    drawn = draw(pairs, items=items, rng=rng)
    shown = []
    for pick in drawn:
        segment = int(pairs[pick.group].segments[pick.place])
        a, b = pairs[pick.group].systems[:: -1 if pick.swapped else 1]
        outputs = [
            ExhibitText("candidate", name, testset.systems[system][segment])
            for name, system in zip("AB", (a, b), strict=True)
        ]
        shown.append(SheetItem((*_context_texts(testset, segment), *outputs), segment + 1, a, b))
    counts = Counter(pick.group for pick in drawn)
    rows = [
        DrawnRow(system=pair.systems[0], other=pair.systems[1], drawn=counts[n])
        for n, pair in enumerate(pairs)
    ]
    if not shown:
        raise DataError("the outputs of all systems are equal: there is nothing to choose from")
    return _SheetDraw(table(DRAWN, _TITLE, DrawnRow, rows), shown, items)


#: segment, from 0 -> system or method -> texts
_Texts: TypeAlias = "Mapping[int, Mapping[str, Sequence[str]]]"


def _group_by_segment(testset: TestSet, origin: Origin) -> _Texts:
    """The outputs of each system, or the paraphrases of each method, segment by segment."""
    columns: list[tuple[str, Sequence[str | None]]] = list(testset.systems.items())
    if origin == "paraphrases":
        own = [column for parts in testset.system_references.values() for column in parts.items()]
        columns = [
            (testset.paraphrases[name], texts)
            for name, texts in (*testset.references.items(), *own)
            if name in testset.paraphrases
        ]
        if set(testset.references) <= set(testset.paraphrases):
            raise DataError("paraphrases are judged beside references, and there are none")
    found: dict[int, dict[str, list[str]]] = {}
    judged_empty = origin == "outputs"  # a system that says nothing is not better for it
    for name, texts in columns:
        for segment, text in enumerate(texts):
            if text is not None and (judged_empty or text.strip()):
                found.setdefault(segment, {}).setdefault(name, []).append(text)
    if not found:
        raise DataError(f"there are no {origin} to judge", _MISSING.get(origin, ""))
    return found


def _draw_single_texts(testset: TestSet, texts: _Texts, items: int, seed: int) -> _SheetDraw:
    """Single texts, so many of each system or method, of the same segments where possible."""
    rng = np.random.default_rng(seed)
    segments = sorted(texts)
    order = [segments[i] for i in rng.permutation(len(segments))]
    order.sort(key=lambda segment: -len(texts[segment]))
    counts: Counter[str] = Counter()
    drawn = []
    for segment in order:
        for made_by in sorted(texts[segment]):
            choices = texts[segment][made_by]
            text = choices[int(rng.integers(len(choices)))]
            if counts[made_by] < items:
                counts[made_by] += 1
                shown = (*_context_texts(testset, segment), ExhibitText("candidate", "", text))
                drawn.append(SheetItem(shown, segment + 1, made_by))
    mixed = [drawn[i] for i in rng.permutation(len(drawn))]
    rows = [DrawnRow(system=name, other="", drawn=n) for name, n in sorted(counts.items())]
    return _SheetDraw(table(DRAWN, _TITLE, DrawnRow, rows), mixed, items * len(counts))


def _context_texts(testset: TestSet, segment: int) -> Iterator[ExhibitText]:
    """The source and the references that people wrote."""
    if testset.sources is not None:
        yield ExhibitText("source", "", testset.sources[segment])
    for name, texts in testset.references.items():
        text = texts[segment]
        if text is not None and name not in testset.paraphrases:
            yield ExhibitText("reference", name, text)
