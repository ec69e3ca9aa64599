"""Do paraphrases that half of the systems ask for help to judge the other half?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gnomon.errors import DataError, UsageError
from gnomon.findings import Column, Finding, Listing, Scatter, Table
from gnomon.formats import Paraphrase
from gnomon.metrics import score
from gnomon.paraphrase._constraints import Constraint, constraints, contains, words_of
from gnomon.signature import Signature
from gnomon.stats import pearson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.findings import Cell
    from gnomon.testset import TestSet

    #: the set with the systems that gave the constraints, and the constraints -> paraphrases
    Generator: TypeAlias = Callable[[TestSet, Sequence[Constraint]], Sequence[Paraphrase]]

_TITLE = "Gain from constrained paraphrases on the half that did not give them"
_ORACLE = (
    "an oracle method: people's scores say which systems give the constraints, so that the gain"
    " shows what such references could bring, not what a metric without judgements would"
)
_COLUMNS = (
    Column("metric", "Metric"),
    Column("gain", "Mean gain", "number", 3, "higher", "Pearson's r with less without paraphrases"),
    Column("spread", "Spread", "number", 3, help="standard deviation over the splits"),
    Column("least", "Least", "number", 3),
    Column("greatest", "Greatest", "number", 3),
    Column("better", "Splits with a gain", "count"),
    Column("splits", "Splits", "count"),
)
_SPLIT_COLUMNS = (
    Column("split", "Split", "count"),
    Column("giving", "Systems that give constraints"),
    Column("judged", "Systems judged", "count"),
    Column("constraints", "Constraints", "count"),
    Column("paraphrases", "Paraphrases", "count"),
    Column("base", "r, original references", "number", 3, "higher"),
    Column("value", "r, with paraphrases", "number", 3, "higher"),
    Column("gain", "Gain", "number", 3, "higher"),
)
_SHOWN = ("split", "judged", "constraints", "paraphrases", "base", "value", "gain")


class _Split(NamedTuple):
    giving: list[str]
    judged: list[str]


def half_splits(
    testset: TestSet,
    generator: Generator | None = None,
    *,
    maker: str | None = None,
    metric: str = "bleu",
    human: str | None = None,
    splits: int = 10,
    seed: int = 0,
    share: float = 0.75,
    longest: int = 4,
    most: int | None = None,
    tokenizer: str = "13a",
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
        generator: (test set of the giving systems, constraints) -> paraphrases; by default
            :func:`from_outputs`, which needs no model; :class:`ConstrainedBy` asks one.
        maker: what the generator is called in the signature.
        metric: spec of the metric.
        human: kind of human scores; may be left out where there is one.
        splits: how many.
        seed: of the splits.
        share: see :func:`constraints`.
        longest: likewise.
        most: likewise.
        tokenizer: likewise.
        allow_code: let a spec ``python('module:function')`` run code.
        progress: called with "splitting", splits done, splits.

    Returns:
        A finding with a row of mean, spread and ends of the gain, and a table with every split.

    Raises:
        DataError: people scored fewer than 6 systems.
        UsageError: a number is out of its range.
    """
    if splits < 1:
        raise UsageError(f"at least one split is needed; got {splits}")
    people = testset.human_scores(human, "system")
    names = [
        name for name, value in zip(testset.systems, people, strict=True) if np.isfinite(value)
    ]
    if len(names) < 6:
        raise DataError(
            f"people scored {len(names)} systems; halves of them to correlate need 6 or more"
        )
    scores = dict(zip(testset.systems, people.tolist(), strict=True))
    make = generator or from_outputs
    rows: list[dict[str, Cell]] = []
    for number, split in enumerate(_splits(names, scores, splits, seed), start=1):
        giving = testset.select(systems=split.giving)
        asked = constraints(giving, share=share, longest=longest, most=most, tokenizer=tokenizer)
        made = make(giving, asked)
        judged = testset.select(systems=split.judged)
        wide = judged.with_paraphrases(list(made)) if made else judged
        wanted = np.array([scores[name] for name in split.judged])
        base, value = (_agreement(t, metric, wanted, allow_code) for t in (judged, wide))
        rows.append(
            {
                "split": number,
                "giving": ", ".join(split.giving),
                "judged": len(split.judged),
                "constraints": len(asked),
                "paraphrases": len(made),
                "base": base,
                "value": value,
                "gain": None if base is None or value is None else value - base,
            }
        )
        if progress is not None:
            progress("splitting", number, splits)
    signature = Signature(metric).adding(
        splits=splits, seed=seed, share=share, longest=longest, most=most, tok=tokenizer
    )
    if maker is not None:
        signature = signature.adding(maker=maker)
    return Finding(
        method="paraphrase constraints",
        title=_TITLE,
        tables=(
            Table("gain", _TITLE, _COLUMNS, (_summary(metric, rows),)),
            Table("splits", "Every split", _SPLIT_COLUMNS, tuple(rows)),
        ),
        signatures={metric: str(signature)},
        views=(
            Listing("gain", _TITLE, tuple(column.name for column in _COLUMNS)),
            Listing("splits", "Every split", _SHOWN),
            Scatter("splits", "Agreement", "base", "value", "split", identity=True),
        ),
        notices=(_ORACLE,),
        facts={
            "test set": testset.name,
            "systems": str(len(names)),
            "segments": str(testset.segments),
        },
    )


def from_outputs(
    testset: TestSet, asked: Sequence[Constraint], *, metric: str = "chrf", tokenizer: str = "13a"
) -> tuple[Paraphrase, ...]:
    """For each constraint the output that holds it and is closest to the reference.

    A paraphrase that costs nothing: the best of the given systems' own words. Copies of a
    reference and repetitions are left out.

    Args:
        testset: references, and the systems that gave the constraints.
        asked: the constraints.
        metric: what closest means, by segment.
        tokenizer: the one of the constraints.
    """
    scored = score(testset, metric)
    sign = 1 if scored.higher_is_better else -1
    columns = list(testset.systems.values())
    words = words_of([text for column in columns for text in column], tokenizer)
    made = []
    for one in asked:
        i = one.segment - 1
        references = {column[i] for column in testset.references.values()}
        holding = [
            k
            for k, column in enumerate(columns)
            if contains(words[column[i]].tokens, one.tokens) and column[i] not in references
        ]
        if holding:
            best = max(holding, key=lambda k: sign * float(scored.segments[k, i]))
            value = float(scored.segments[best, i])
            made.append(Paraphrase(one.segment, columns[best][i], "constrained", score=value))
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
        giving, judged = ([name for name in names if name in part] for part in chosen)
        yield _Split(giving, judged)


def _agreement(
    testset: TestSet,
    metric: str,
    people: NDArray[np.float64],
    allow_code: bool,  # noqa: FBT001  # passed on
) -> float | None:
    scored = score(testset, metric, allow_code=allow_code)
    sign = 1 if scored.higher_is_better else -1
    value = float(pearson(people, sign * np.asarray(scored.system)))
    return value if np.isfinite(value) else None


def _summary(metric: str, rows: Sequence[dict[str, Cell]]) -> dict[str, Cell]:
    gains = np.array([row["gain"] for row in rows if row["gain"] is not None], dtype=np.float64)
    known = len(gains) > 0
    return {
        "metric": metric,
        "gain": float(gains.mean()) if known else None,
        "spread": float(gains.std(ddof=1)) if len(gains) > 1 else None,
        "least": float(gains.min()) if known else None,
        "greatest": float(gains.max()) if known else None,
        "better": int((gains > 0).sum()),
        "splits": len(rows),
    }
