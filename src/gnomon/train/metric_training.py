"""From human scores of segments to a metric that predicts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from gnomon.agreement.files import add_judgements
from gnomon.core.errors import UsageError
from gnomon.core.findings import Finding
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
    expand_fields,
    fields_of,
)
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.data.formats import Human, human_files
from gnomon.models import usable_device
from gnomon.train.finding import training_finding
from gnomon.train.judged import judged_outputs
from gnomon.train.recipe import HeadRecipe
from gnomon.train.rows import HeldOutRow, LearnedSetRow, TrainedMetricRow, TrainingCurveRow
from gnomon.train.runs import TrainingRequest, fitted
from gnomon.train.verdict import train_metric_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline

__all__ = ["metric"]


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


_DATA = Group("what is learnt from")
_RUNNING = Group("the run")


def check_metric(_outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.train.metric` that fit each alone."""
    yield from problems("", options.build, HeadRecipe)
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
@expand_fields(recipe=HeadRecipe)
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
        encoder: the folder, package, short name or hub name of a BERT or XLM-R model.
        human: kinds of human scores to learn ("da-z", "mqm", "esa"), or files of them; by default
            the only kind of each test set.
        resume: go on with the run in the folder; begin one where it holds none.
        embeddings: a folder for the encoder's vectors, shared by runs; by default the metric's own.
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
        sets, more = add_judgements(sets, files)
        kinds = [*kinds, *more]
    request = TrainingRequest(
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
    training, stopped = fitted(request, data)
    return training_finding(request, training, stopped)
