"""From human scores of segments to a metric that predicts them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from gnomon.agreement.files import with_judgements
from gnomon.core.errors import UsageError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import (
    CONFIDENCE,
    FILES,
    MODEL,
    RESAMPLES,
    Confidence,
    Device,
    Group,
    Metavar,
    Outcome,
    Resamples,
    fields_of,
    with_fields,
)
from gnomon.core.records import METRIC, TEST_SET, Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.signature import content_hash, version
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.core.verdicts import amount, counted
from gnomon.data.formats import Human, explain_failure, human_files
from gnomon.messages import message
from gnomon.metrics import score
from gnomon.models import missing_package, usable_device
from gnomon.models.training_runs import describe_run, open_run
from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.jackknife import LEAST_DOCUMENTS
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums
from gnomon.train.judged import judged_outputs
from gnomon.train.recipe import HeadRecipe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.core.options import BoundOptions
    from gnomon.core.records import Ends
    from gnomon.core.summary import Outline
    from gnomon.messages import Message
    from gnomon.train._estimator import Pass, Training
    from gnomon.train._features import BaseEncoder
    from gnomon.train.judged import JudgedOutputs

__all__ = ["HeldOutRow", "LearnedSetRow", "TrainedMetricRow", "metric", "train_metric_verdict"]


#: what the metric is compared with: words and letters in common, and a control
_BASELINE = "chrf"
_LENGTH = "length of the output"
_ALL = "all"
_STATE, _KEPT = "state.safetensors", "vectors"

_EXAMPLES = """\
Human scores of segments (DA, MQM, ESA) become labels with mean 0 and variance 1 within each test
set and kind. The encoder stays as it is: its vectors are computed once. A run that was killed goes
on with --resume, and ends in the same weights. The metric is then named by its folder.

examples:
  gnomon train metric --write-recipe recipe.toml
  gnomon train metric recipe.toml -t wmt17/cs-en wmt17/de-en --human da-z --save small
  gnomon train metric -t wmt17/cs-en --encoder FOLDER --save small --resume
  gnomon train metric -t wmt21/en-de --human mqm --encoder FOLDER --save qe
  gnomon metaeval -t wmt19/kk-en wmt19/lt-en -m "comet('small')" chrf
"""


# What a run reports.


class TrainedMetricRow(Record):
    """The metric that a run of training made."""

    folder: str = column("Folder", help="the metric: comet('FOLDER')")
    encoder: str = column("Encoder", help="name and hash of its files")
    licence: str = column("Licence", help="of the encoder's weights, as its folder states it")
    parameters: int = column("Parameters", help="weights that were learnt")
    passes: int = column("Passes", help="over the examples, over all calls")
    best: int = column("Best pass", help="whose weights were kept; 0: those before the first")
    stopped: str = column("Stopped", help="why: patience or epochs")


class TrainingCurveRow(Record):
    """What a pass over the examples came to."""

    number: int = column("Pass", help="from 1; 0 is before the first")
    loss: float | None = column(
        "Loss", digits=4, better="lower", help="mean squared error in training, with dropout"
    )
    held_out_loss: float = column(
        "Held-out loss", digits=4, better="lower", help="mean squared error on what is held out"
    )
    pearson: float | None = column(
        "Pearson", digits=3, better="higher", help="r on what is held out, within sets and kinds"
    )


class HeldOutRow(Record):
    """How a metric agrees with people on what was held out."""

    test_set: str = TEST_SET
    human: str = column("Human", help="kind of the human scores")
    metric: str = METRIC
    outputs: int = column("Outputs", help="judged outputs that were held out")
    groups: int = column("Groups", help="documents or segments without a common text")
    pearson: float | None = column(
        "Pearson", digits=3, better="higher", interval=True, help="r, within test sets and kinds"
    )
    difference: float | None = column(
        "Lead", digits=3, interval=True, help="by how much the trained metric's r is higher"
    )


class LearnedSetRow(Record):
    """What was learnt of a test set."""

    test_set: str = TEST_SET
    human: str = column("Human", help="kind of the human scores")
    outputs: int = column("Outputs", help="judged outputs that were trained on")
    held_out: int = column("Held out", help="judged outputs that were held out")


def train_metric_verdict(finding: Finding) -> Iterator[Message]:
    """What was learnt, on what was held out, beside what needs no training and a control."""
    (row,) = finding.records(TrainedMetricRow)
    single = len(finding.records(LearnedSetRow)) == 1
    whole = [held for held in finding.records(HeldOutRow) if held.test_set == _ALL or single]
    whole.sort(key=lambda held: not held.metric.startswith("comet("))
    learned, *others = whole
    r, (low, high) = learned.pearson, learned.ends("pearson")
    if r is None:
        yield message("train.metric.nothing", finding.positions([learned]))
    else:
        beside = [
            f"{_called(other)} {amount(other.pearson, share=True)}"
            for other in others
            if other.pearson is not None
        ]
        yield message(
            "train.metric.held_out",
            finding.positions(whole),
            outputs=counted(learned.outputs, "judged output"),
            r=amount(r, low, high, share=True),
            beside=f" ({', '.join(beside)})" if beside else "",
            folder=row.folder,
        )
    for other in others if r is not None and learned.groups >= LEAST_DOCUMENTS else ():
        lead, theirs, ends = other.difference, other.pearson, other.ends("difference")
        if lead is None or theirs is None or ends[0] is None or ends[1] is None or ends[1] >= 0:
            continue
        yield message(
            "train.metric.worse",
            finding.positions([other]),
            other=_called(other),
            size=amount(-lead, -ends[1], -ends[0], share=True),
            facts=f"r = {amount(r or 0.0, share=True)} against {amount(theirs, share=True)}",
        )
    if r is not None and low is not None and high is not None and low <= 0 <= high:
        maybe = amount(r, low, high, share=True)
        yield message("train.metric.maybe_nothing", finding.positions([learned]), r=maybe)
    if row.stopped == "epochs" and row.best == row.passes:
        yield message("train.metric.last_pass")


def _called(row: HeldOutRow) -> str:
    """A metric beside the learned one; the length of outputs is a control."""
    return "the length of the output alone" if row.metric == _LENGTH else row.metric


# A run, and its folder.


@dataclass(frozen=True)
class _TrainingRequest:
    """What a run is asked for."""

    testsets: Sequence[TestSet]
    folder: Path
    recipe: HeadRecipe
    encoder: str
    device: str
    embeddings: str | None
    resume: bool
    resamples: int
    confidence: float
    progress: Callable[[str, int, int], None] | None


def _facts(data: JudgedOutputs, recipe: HeadRecipe, base: BaseEncoder) -> dict[str, object]:
    """What must be the same when a run is resumed."""
    arrays = (data.sides, data.cell, data.label, data.held_out)
    return {
        "recipe": recipe.fixed(),
        "encoder": base.folder.identity,
        "data": {
            "outputs": len(data.score),
            "hash": content_hash(*data.texts, *(array.tobytes() for array in arrays)),
        },
    }


def _fit(request: _TrainingRequest, data: JudgedOutputs) -> tuple[Training, str]:
    """Encode, train and write; the run, and why it ended."""
    try:
        import torch

        from gnomon.train._estimator import Estimator, Training
        from gnomon.train._features import Features, load_base
    except ImportError as error:
        raise missing_package(error.name or "torch", "training a metric") from error

    recipe, scratch = request.recipe, request.folder / "training"
    base = load_base(request.encoder, request.device)
    encoder = base.encoder
    facts = _facts(data, recipe, base)
    if not open_run(request.folder, facts, resume=request.resume):
        describe_run(request.folder, facts)
    features = Features(
        base,
        recipe.pool if recipe.compared else "cls",
        recipe.layers if recipe.compared else "last",
        encoder.limit if recipe.compared else encoder.positions,
    )
    settings = recipe.settings(base.kind, base.folder.name)
    devices = [torch.device(request.device)] if request.device.startswith("cuda") else []
    with explain_failure(request.folder), torch.random.fork_rng(devices=devices):
        for left in scratch.glob("vectors-*.npy"):
            left.unlink()  # of a run that was killed; a process that still reads it may do so
        mapped = scratch / f"vectors-{os.getpid()}.npy"
        vectors = features.fill(
            data.texts, mapped, request.embeddings or str(scratch / _KEPT), request.progress
        )
        torch.manual_seed(recipe.seed % 2**63)
        estimator = Estimator(
            recipe.kind, settings, encoder.dimensions, encoder.depth, recipe.dropout
        )
        training = Training(data, features, vectors, estimator, recipe)
        if (scratch / _STATE).is_file():
            training.resume(scratch / _STATE)
        else:
            training.standardise()
        stopped = training.run(scratch / _STATE, request.progress)
        mapped.unlink()
    best = max(training.curve, key=lambda pass_: pass_.rank)
    about = {
        "class": recipe.kind,
        "hyper_parameters": settings,
        "encoder": base.config,
        "origin": {
            "name": "gnomon train metric",
            "revision": base.folder.revision,
            "checkpoint": content_hash(json.dumps(facts, sort_keys=True)),
            "encoder": base.folder.identity,
        },
        "licence": base.licence,
        "trained_on": [
            {
                "test_set": judged_set.name,
                "human": judged_set.kind,
                "mean": judged_set.mean,
                "spread": judged_set.spread,
                "texts": _text_marks(
                    request.testsets[judged_set.place], data.output[data.judged == n, 2]
                ),
            }
            for n, judged_set in enumerate(data.sets)
        ],
        "recipe": recipe.fixed(),
        "held_out": best._asdict(),
        "gnomon": version(),
    }
    _write(request.folder, about, training.exported(), base)
    return training, stopped


def _text_marks(testset: TestSet, segments: NDArray[np.int64]) -> list[str]:
    """Marks of sources and references of some segments, for whoever judges the metric by them."""
    from gnomon.learned.weights import text_mark

    sides = [testset.sources or (), *testset.references.values()]
    places = np.unique(segments).tolist()
    return sorted({text_mark(side[n]) for side in sides if side for n in places if side[n]})


def _write(
    folder: Path, about: Mapping[str, object], weights: dict[str, Any], base: BaseEncoder
) -> None:
    """Put the metric into the folder, its description last."""
    from gnomon.learned.weights import CONFIG, FORMAT, VOCABULARY, WEIGHTS, write_learned

    tokenizer = (base.folder.path / VOCABULARY).read_bytes()
    with explain_failure(folder), TemporaryDirectory(dir=folder / "training") as scratch:
        made = Path(scratch) / "metric"
        write_learned(made, {"format": FORMAT, **about}, weights, tokenizer)
        (folder / CONFIG).unlink(missing_ok=True)  # without it the others are no metric
        for name in (WEIGHTS, VOCABULARY, CONFIG):
            (made / name).replace(folder / name)


# What a run found.


def _held_out_scores(
    request: _TrainingRequest, training: Training
) -> dict[str, NDArray[np.float64]]:
    """Scores of the outputs that were held out, by metric; the trained one is the first."""
    data = training.data
    cells = data.held_out
    trained = np.full(len(data.cell), np.nan)
    trained[training.held_rows] = training.scores(training.held_rows)
    scores = {f"comet('{request.folder}')": data.cell_means(trained)[cells]}
    output = data.output[cells]
    texts = [list(testset.systems.values()) for testset in request.testsets]
    if all(testset.outline.has_references for testset in request.testsets):
        scores[_BASELINE] = _baseline_scores(request.testsets, output)
    scores[_LENGTH] = np.array([len(texts[t][k][n]) for t, k, n in output.tolist()], dtype=float)
    return scores


def _baseline_scores(testsets: Sequence[TestSet], output: NDArray[np.int64]) -> NDArray[np.float64]:
    """Segment scores of a metric that needs no training, of some outputs."""
    scores = np.full(len(output), np.nan)
    for test_set, testset in enumerate(testsets):
        of_set = output[:, 0] == test_set
        if of_set.any():
            segments = np.unique(output[of_set, 2])
            some = testset.select(segments=segments.tolist())
            values = score(some, _BASELINE).segments
            scores[of_set] = values[output[of_set, 1], np.searchsorted(segments, output[of_set, 2])]
    return scores


def _held_out_rows(request: _TrainingRequest, training: Training) -> list[HeldOutRow]:
    """Agreement of each metric, on each judged set and on all together."""
    data, scores = training.data, _held_out_scores(request, training)
    judged = data.judged[data.held_out]
    parts = [((one.name, one.kind), judged == number) for number, one in enumerate(data.sets)]
    if len(parts) > 1:
        parts.append(((_ALL, _ALL), judged >= 0))
    return [
        row
        for names, inside in parts
        if inside.any()
        for row in _agreements(request, data, scores, inside, names)
    ]


def _agreements(
    request: _TrainingRequest,
    data: JudgedOutputs,
    scores_by_metric: Mapping[str, NDArray[np.float64]],
    inside: NDArray[np.bool_],
    names: tuple[str, str],
) -> list[HeldOutRow]:
    from gnomon.train._estimator import agreement, within_sets

    cells = np.flatnonzero(data.held_out)[inside]
    label, judged = data.label[cells], data.judged[cells]
    units, group = np.unique(data.group[cells], return_inverse=True)
    people = within_sets(label, judged)
    made: list[HeldOutRow] = []
    for metric, every in scores_by_metric.items():
        scores = within_sets(every[inside], judged)
        r = agreement(every[inside], label, judged)
        drawn = np.full(max(request.resamples, 1), np.nan)
        if request.resamples and len(units) > 2:
            terms = np.array(
                [
                    np.bincount(group, values, len(units))
                    for values in (
                        np.ones(len(scores)),
                        scores,
                        people,
                        scores * scores,
                        people * people,
                        scores * people,
                    )
                ]
            )
            counts = resample_counts(len(units), count=request.resamples, seed=request.recipe.seed)
            drawn = pearson_of_sums(resampled_sums(terms, counts))
        ends: dict[str, Ends] = {"pearson": _ends(drawn, request.confidence, len(units))}
        lead = None
        if not made:
            own, own_drawn = r, drawn
        elif r is not None and own is not None:
            lead = own - r
            ends["difference"] = _ends(own_drawn - drawn, request.confidence, len(units))
        made.append(
            HeldOutRow(
                test_set=names[0],
                human=names[1],
                metric=metric,
                outputs=len(label),
                groups=len(units),
                pearson=r,
                difference=lead,
                intervals=ends,
            )
        )
    return made


def _ends(drawn: NDArray[np.float64], confidence: float, groups: int) -> Ends:
    """Ends of an interval over groups, expanded as few of these need it."""
    if np.isnan(drawn).all():
        return None, None
    low, high = percentile_interval(drawn, confidence, groups)
    return float(low), float(high)


def _finding(request: _TrainingRequest, training: Training, stopped: str) -> Finding:
    data, base = training.data, training.features.base
    held = _held_out_rows(request, training)
    best: Pass = max(training.curve, key=lambda pass_: pass_.rank)
    row = TrainedMetricRow(
        folder=str(request.folder),
        encoder=base.folder.identity,
        licence=base.licence,
        parameters=sum(weight.numel() for weight in training.weights.values()),
        passes=training.curve[-1].number,
        best=best.number,
        stopped=stopped,
    )
    curve = [TrainingCurveRow(**pass_._asdict()) for pass_ in training.curve]
    sets = [
        LearnedSetRow(
            test_set=judged_set.name,
            human=judged_set.kind,
            outputs=int(((data.judged == n) & ~data.held_out).sum()),
            held_out=int(((data.judged == n) & data.held_out).sum()),
        )
        for n, judged_set in enumerate(data.sets)
    ]
    tables = (
        table("metric", f"The metric in {request.folder}", TrainedMetricRow, [row]),
        table("held_out", "Agreement with people on what was held out", HeldOutRow, held,
              confidence=request.confidence),
        table("curve", "Passes over the examples", TrainingCurveRow, curve),
        table("sets", "What was learnt from", LearnedSetRow, sets),
    )  # fmt: skip
    return Finding(
        method="train metric",
        title=tables[0].title,
        tables=tables,
        signatures={},
        views=tuple(
            Listing(shown.name, shown.title, column_names(kind))
            for shown, kind in zip(
                tables,
                (TrainedMetricRow, HeldOutRow, TrainingCurveRow, LearnedSetRow),
                strict=True,
            )
        ),
    )


# The method.


_DATA = Group("what is learnt from")
_RUNNING = Group("the run")


def check_metric(_outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.train.metric` refuses of options that fit each alone."""
    yield from problems("", options.of, HeadRecipe)
    if not options.encoder:
        yield Problem("encoder", UsageError("encoder names a model; got an empty name"))


@method(
    "train.metric",
    purpose="train a learned metric on human scores of segments",
    title="Learned metric",
    data=("testsets",),
    given="testsets",
    unread=("domains",),
    examples=_EXAMPLES,
    rows={
        "metric": TrainedMetricRow,
        "held_out": HeldOutRow,
        "curve": TrainingCurveRow,
        "sets": LearnedSetRow,
    },
    metrics="none",
    human=True,
    judged=True,
    recipe=tuple(fields_of(HeadRecipe)),
    kept="the last pass is kept; the same command with --resume goes on from there",
    check=check_metric,
    verdict=train_metric_verdict,
)
@with_fields(recipe=HeadRecipe)
def metric(
    testsets: TestSet | Sequence[TestSet],
    *,
    save: Annotated[str | PathLike[str], Outcome(), Metavar("FOLDER"), _RUNNING],
    encoder: Annotated[str, MODEL, Metavar("MODEL"), _RUNNING] = "minilm",
    human: Annotated[Human, _DATA] = (),
    resume: Annotated[bool, _RUNNING] = False,
    device: Annotated[Device, _RUNNING] = None,
    embeddings: Annotated[str | PathLike[str] | None, FILES, Metavar("FOLDER"), _RUNNING] = None,
    recipe: HeadRecipe,
    resamples: Resamples = RESAMPLES,
    confidence: Confidence = CONFIDENCE,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Fit the head of a COMET metric to human scores of segments.

    The encoder is frozen unless ``train_encoder`` says otherwise: its vectors are computed once
    per distinct text, kept in the folder, and read from a file that is mapped into memory. The
    loss is the mean squared error to labels with mean 0 and variance 1 within each test set and
    kind of human scores; AdamW; the pass with the highest Pearson's r on what is held out is kept.
    Equal requests give equal weights on one machine with the same number of threads.

    Args:
        testsets: test sets with human scores of segments.
        save: a folder for the metric; its subfolder ``training`` holds what a run needs to go on,
            and can be deleted afterwards.
        encoder: folder, package, short name or hub name of a BERT or XLM-R model.
        human: kinds of human scores to learn from ("da-z", "mqm", "esa"), or files of them; by
            default the only kind of each test set.
        resume: go on with the run in the folder; begin one where it holds none.
        embeddings: folder where the encoder's vectors are kept for other runs; by default the
            metric's own.
        recipe: how the metric is built and trained.

    Returns:
        A finding with a row of the metric, and tables "held_out" (agreement beside chrF and the
        length of the output), "curve" and "sets".

    Raises:
        DataError: people scored no segments of a test set, there are too few, a test set lacks
            what the metric looks at, or the folder holds a run of other data, of another encoder
            or of another recipe.
        FormatError: the run in the folder is damaged.
        MissingDependencyError: a library or the encoder is not on this machine.
        OutputError: the folder cannot be written, or the disk is full.
        UnknownNameError: no test set has such a kind of human scores.
        UsageError: the folder holds a run or something else and ``resume`` is not given; there is
            no such device.
    """
    sets = [testsets] if isinstance(testsets, TestSet) else list(testsets)
    if not sets:
        raise UsageError("there is no test set to learn from; give one with scores of segments")
    files, kinds = human_files(human)
    if files:
        sets, more = with_judgements(sets, files)
        kinds = [*kinds, *more]
    request = _TrainingRequest(
        testsets=sets,
        folder=Path(save).expanduser(),
        recipe=recipe,
        encoder=encoder,
        device=usable_device(device, "training a metric"),
        embeddings=None if embeddings is None else str(embeddings),
        resume=resume,
        resamples=resamples,
        confidence=confidence,
        progress=progress,
    )
    data = judged_outputs(sets, recipe, human=kinds)
    training, stopped = _fit(request, data)
    return _finding(request, training, stopped)
