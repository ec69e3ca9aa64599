"""Do paraphrases that half of the systems ask for help to judge the other half?"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Finding, Listing, Scatter
from gnomon.core.options import MODEL, SEED, Device, Group, Metavar, Positive, Seed, Share
from gnomon.core.records import METRIC, Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.core.verdicts import Claim, amount, counted, titles_of
from gnomon.data.formats import Paraphrase
from gnomon.methods.paraphrase._constraints import (
    Constraint,
    KeptConstraints,
    Longest,
    Tokeniser,
    check_share,
    contains,
    output_constraints,
    words_of,
)
from gnomon.methods.paraphrase._wordings import each_of
from gnomon.metrics import score
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.registry import check_metric
from gnomon.metrics.tokenise import check_tokeniser
from gnomon.models import Precision
from gnomon.stats import pearson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.core.findings import Statement
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.metrics import BoundMetric, Metric

    AnyMetric: TypeAlias = str | Metric | BoundMetric | Callable[..., float]
    #: the set with the systems that gave the constraints, and the constraints -> paraphrases
    Generator: TypeAlias = Callable[[TestSet, Sequence[Constraint]], Sequence[Paraphrase]]

_OF_MODEL = Group("a model that paraphrases")
_TITLE = "Gain from constrained paraphrases on the half that did not give them"
_ORACLE = (
    "an oracle method: people's scores say which systems give the constraints, so that the gain"
    " shows what such references could bring, not what a metric without judgements would"
)
_EXAMPLES = """\
examples:
  gnomon paraphrase half-splits -t wmt19/de-en --first 500 -m bleu
  gnomon paraphrase half-splits -t wmt19/de-en --first 500 --model FOLDER
"""


class HalfSplitGainRow(Record):
    """What constrained paraphrases bring over all splits."""

    metric: str = METRIC
    gain: float | None = column(
        "Mean gain",
        digits=3,
        better="higher",
        help="Pearson's r with less without paraphrases",
    )
    spread: float | None = column("Spread", digits=3, help="standard deviation over the splits")
    least: float | None = column("Least", digits=3, help="the least gain of a split")
    greatest: float | None = column("Greatest", digits=3, help="the greatest gain of a split")
    better: int = column("Splits with a gain", help="above 0")
    splits: int = column("Splits", help="how many there were")


class HalfSplitRow(Record):
    """What they bring in one split."""

    split: int = column("Split", help="its number, from 1")
    giving: str = column("Systems that give constraints", help="their names")
    judged: int = column("Systems judged", help="those of the other half")
    constraints: int = column("Constraints", help="that were asked for")
    paraphrases: int = column("Paraphrases", help="that were made of them")
    base: float | None = column(
        "r, original references", digits=3, better="higher", help="Pearson's r with people"
    )
    value: float | None = column(
        "r, with paraphrases", digits=3, better="higher", help="likewise, with the paraphrases"
    )
    gain: float | None = column("Gain", digits=3, better="higher", help="with less without")


_SHOWN = ("split", "judged", "constraints", "paraphrases", "base", "value", "gain")


_GAIN = Claim(
    "paraphrase.half_splits.gain",
    "Paraphrases that other systems ask for change the agreement of {metric} with people by {mean}"
    " in r on average, from {least} to {greatest} over {splits}. Splits share their systems, so"
    " that nothing was tested",
    "undecided",
    "the gains over splits; nothing is tested",
)


def half_splits_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether paraphrases that some systems ask for help to judge others; nothing is tested."""
    for row in finding.records(HalfSplitGainRow):
        if row.gain is None or row.least is None or row.greatest is None:
            continue
        yield _GAIN.said(
            finding.positions([row]),
            metric=titles_of(finding)[row.metric],
            mean=_signed(row.gain),
            least=_signed(row.least),
            greatest=_signed(row.greatest),
            splits=counted(row.splits, "split"),
        )


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{amount(value, share=True)}"


class _Split(NamedTuple):
    giving: list[str]
    judged: list[str]


def check_half_splits(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.paraphrase.half_splits` refuses of options that fit each alone."""
    several = each_of(options.metrics)
    if len(several) != 1:
        message = f"metrics must name one metric here; got {' '.join(map(str, several)) or 'none'}"
        yield Problem("metrics", UsageError(message))
    for number, metric in enumerate(several):
        yield from problems(
            f"metrics[{number}]", check_metric, metric, outline, allow_code=options.allow_code
        )
    other = None if options.precision == "fp32" else options.precision
    for name, value in (("beam", options.beam), ("device", options.device), ("precision", other)):
        if value is not None and options.model is None:
            yield Problem(name, UsageError(f"{name} goes with model, which is not given"))
    yield from problems("share", check_share, options.share)
    yield from problems("tokenizer", check_tokeniser, options.tokenizer)


@method(
    "paraphrase.half_splits",
    answers="whether paraphrases made for some systems help to judge others",
    unread=("sources", "documents", "domains"),
    examples=_EXAMPLES,
    rows={"gain": HalfSplitGainRow, "splits": HalfSplitRow},
    human=True,
    judged=True,
    check=check_half_splits,
    verdict=half_splits_verdict,
    claims=(_GAIN,),
)
def half_splits(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    human: Annotated[str | None, Metavar("KIND")] = None,
    splits: Positive = 10,
    share: Share = 0.75,
    longest: Longest = 4,
    most: KeptConstraints = None,
    tokenizer: Tokeniser = "13a",
    model: Annotated[
        str | PathLike[str] | Callable[..., Sequence[Paraphrase]] | None,
        Metavar("MODEL"),
        MODEL,
        _OF_MODEL,
    ] = None,
    beam: Annotated[Positive | None, _OF_MODEL] = None,
    device: Annotated[Device, _OF_MODEL] = None,
    precision: Annotated[Precision, _OF_MODEL] = "fp32",
    seed: Annotated[Seed, Group("analysis")] = SEED,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """The gain of output-guided constraints, on systems that did not give them.

    Systems are split into halves at random. Of the first half, the better half in people's eyes
    gives the constraints (:func:`constraints`); the generator makes paraphrases of them, and the
    systems of the second half are scored with and without these. The gain is the difference of
    Pearson's r with people's scores over the second half (Bawden et al., 2020, section 3.4).

    Args:
        testset: references, outputs, and people's scores of systems.
        metrics: the metric, one.
        human: kind of human scores; may be left out where there is one.
        splits: how many.
        share: constraints are n-grams of at least this share of the systems; in (0, 1].
        model: what makes paraphrases of constraints: a folder or a name of a model
            (:class:`ConstrainedBy` with further options), or a function (test set of the giving
            systems, constraints) -> paraphrases; by default outputs that hold a constraint are its
            paraphrases (:func:`from_outputs`).
        beam: width of the model's search (20).
        precision: of the model's weights.

    Returns:
        A finding with a row of mean, spread and ends of the gain, and a table with every split.

    Raises:
        DataError: people scored fewer than 6 systems.
        UsageError: a number is out of its range.
    """
    (metric,) = each_of(metrics)
    made_by = _maker(model, beam, device, precision)
    people = testset.human_scores(human, "system")
    names = [
        name for name, value in zip(testset.systems, people, strict=True) if np.isfinite(value)
    ]
    if len(names) < 6:
        raise DataError(
            f"people scored {len(names)} systems; halves of them to correlate need 6 or more"
        )
    scores = dict(zip(testset.systems, people.tolist(), strict=True))
    rows: list[HalfSplitRow] = []
    for number, split in enumerate(_splits(names, scores, splits, seed), start=1):
        giving = testset.select(systems=split.giving)
        asked = output_constraints(
            giving, share=share, longest=longest, most=most, tokenizer=tokenizer
        )
        made = made_by(giving, asked)
        judged = testset.select(systems=split.judged)
        wide = judged.with_paraphrases(list(made)) if made else judged
        wanted = np.array([scores[name] for name in split.judged])
        base, value = (_agreement(t, metric, wanted, allow_code) for t in (judged, wide))
        rows.append(
            HalfSplitRow(
                split=number,
                giving=", ".join(split.giving),
                judged=len(split.judged),
                constraints=len(asked),
                paraphrases=len(made),
                base=base,
                value=value,
                gain=None if base is None or value is None else value - base,
            )
        )
        if progress is not None:
            progress("splitting", number, splits)
    name = metric if isinstance(metric, str) else score(testset, metric).metric
    signature = Signature(name).adding(
        splits=splits, seed=seed, share=share, longest=longest, most=most, tok=tokenizer
    )
    identity = getattr(made_by, "identity", None)
    if identity is not None:
        signature = signature.adding(maker=identity)
    return Finding(
        method="paraphrase half-splits",
        title=_TITLE,
        tables=(
            table("gain", _TITLE, HalfSplitGainRow, [_summary(name, rows)]),
            table("splits", "Every split", HalfSplitRow, rows),
        ),
        signatures={name: str(signature)},
        views=(
            Listing("gain", _TITLE, column_names(HalfSplitGainRow)),
            Listing("splits", "Every split", _SHOWN),
            Scatter("splits", "Agreement", "base", "value", "split", identity=True),
        ),
        notices=(_ORACLE, *_notices(made_by)),
        facts={
            "test set": testset.name,
            "systems": str(len(names)),
            "segments": str(testset.segments),
        },
    )


def _maker(
    model: str | PathLike[str] | Generator | None,
    beam: int | None,
    device: str | None,
    precision: Precision,
) -> Generator:
    """What makes paraphrases of constraints."""
    if model is None:
        return from_outputs
    if not isinstance(model, str | PathLike):
        return model
    from gnomon.methods.paraphrase.generation import ConstrainedBy, ConstrainedSearch

    search = ConstrainedSearch(beam=beam)
    return ConstrainedBy(os.fspath(model), search, device=device, precision=precision)


def _notices(made_by: Generator) -> tuple[str, ...]:
    notices_of = getattr(made_by, "notices", None)
    return tuple(notices_of()) if callable(notices_of) else ()


def from_outputs(
    testset: TestSet, asked: Sequence[Constraint], *, metric: str = "chrf", tokenizer: str = "13a"
) -> tuple[Paraphrase, ...]:
    """For each constraint the output that holds it and is closest to the reference.

    A paraphrase that costs nothing: the best of the given systems' own words. Copies of a
    reference and repetitions are left out.
    """
    scored = score(testset, metric)
    sign = 1 if scored.higher_is_better else -1
    columns = list(testset.systems.values())
    words = words_of([text for texts in columns for text in texts], tokenizer)
    made = []
    for constraint in asked:
        i = constraint.segment - 1
        references = {texts[i] for texts in testset.references.values()}
        holding = [
            k
            for k, texts in enumerate(columns)
            if contains(words[texts[i]].tokens, constraint.tokens) and texts[i] not in references
        ]
        if holding:
            best = max(holding, key=lambda k: sign * float(scored.segments[k, i]))
            value = float(scored.segments[best, i])
            made.append(
                Paraphrase(constraint.segment, columns[best][i], "constrained", score=value)
            )
    return tuple(dict.fromkeys(made))


def _splits(
    names: Sequence[str], scores: dict[str, float], count: int, seed: int
) -> Iterator[_Split]:
    rng = np.random.default_rng(seed)
    half = len(names) // 2
    for _ in range(count):
        order = [names[i] for i in rng.permutation(len(names))]
        best = sorted(order[:half], key=lambda name: -scores[name])[: (half + 1) // 2]
        chosen = set(best), set(order[half:])
        giving, judged = ([name for name in names if name in half_names] for half_names in chosen)
        yield _Split(giving, judged)


def _agreement(
    testset: TestSet,
    metric: AnyMetric,
    people: NDArray[np.float64],
    allow_code: bool,  # noqa: FBT001  # passed on
) -> float | None:
    scored = score(testset, metric, allow_code=allow_code)
    sign = 1 if scored.higher_is_better else -1
    value = float(pearson(people, sign * np.asarray(scored.system)))
    return value if np.isfinite(value) else None


def _summary(metric: str, rows: Sequence[HalfSplitRow]) -> HalfSplitGainRow:
    gains = np.array([row.gain for row in rows if row.gain is not None], dtype=np.float64)
    has_gains = len(gains) > 0
    return HalfSplitGainRow(
        metric=metric,
        gain=float(gains.mean()) if has_gains else None,
        spread=float(gains.std(ddof=1)) if len(gains) > 1 else None,
        least=float(gains.min()) if has_gains else None,
        greatest=float(gains.max()) if has_gains else None,
        better=int((gains > 0).sum()),
        splits=len(rows),
    )
