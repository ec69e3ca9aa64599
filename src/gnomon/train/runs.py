"""A run of training, and its folder."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.signature import content_hash, version
from gnomon.data.formats import explain_failure
from gnomon.models import missing_package
from gnomon.models.training_runs import describe_run, open_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.train._estimator import Training
    from gnomon.train._features import BaseEncoder
    from gnomon.train.judged import JudgedOutputs
    from gnomon.train.recipe import HeadRecipe

__all__ = ["TrainingRequest", "fitted"]


_STATE, _KEPT = "state.safetensors", "vectors"


@dataclass(frozen=True)
class TrainingRequest:
    """Options of a run."""

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
    """Facts that must be the same when a run is resumed."""
    arrays = (data.sides, data.cell, data.label, data.held_out)
    return {
        "recipe": recipe.fixed(),
        "encoder": base.folder.identity,
        "data": {
            "outputs": len(data.score),
            "hash": content_hash(*data.texts, *(array.tobytes() for array in arrays)),
        },
    }


def fitted(request: TrainingRequest, data: JudgedOutputs) -> tuple[Training, str]:
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
