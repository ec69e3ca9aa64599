"""Training of a paraphraser from pairs."""

from __future__ import annotations

import importlib.util
import math
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.core.errors import DataError, not_installed
from gnomon.core.signature import content_hash, version
from gnomon.models.training_runs import describe_run, open_run
from gnomon.paraphrase.training.recipe import Recipe, score_of
from gnomon.paraphrase.training.training_pairs import SentencePair, hold_out
from gnomon.paraphrase.training.verdict import Trained
from gnomon.paraphrase.training.vocabulary import code_token, fast_tokenizer, learn, write_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from os import PathLike

    from gnomon.paraphrase.codes import CodeFacts
    from gnomon.paraphrase.training.trainer import Arguments, RunCallback

__all__ = ["Data", "TrainingPlan", "fit", "plan", "prepare"]


#: errors that damaged files make libraries raise, beside their own
_DAMAGE = (ValueError, TypeError, RuntimeError, EOFError)


Encoded = dict[str, list[int]]


class Data(NamedTuple):
    """Pairs as pieces (``input_ids`` and ``labels``), and the tokeniser that made them."""

    tokenizer: Any
    pairs: list[Encoded]
    dev: list[Encoded]
    dev_texts: list[SentencePair]
    too_long: int


class TrainingPlan(NamedTuple):
    """Plan of a run of training.

    - ``pairs``: to train on.
    - ``dev``: held out.
    - ``too_long``: left out for more pieces than the limit.
    - ``vocabulary``: pieces and codes.
    - ``parameters``: weights that are learnt.
    - ``steps``: updates of one pass, on one device.
    """

    pairs: int
    dev: int
    too_long: int
    vocabulary: int
    parameters: int
    steps: int


def plan(
    pairs: Sequence[SentencePair], *, recipe: Recipe | None = None, codes: CodeFacts | None = None
) -> TrainingPlan:
    """Count what :func:`fit` would do; nothing is written.

    Raises:
        DataError: as :func:`fit`.
        UsageError: as :func:`fit`.
    """
    _require_trainer()
    import torch

    from gnomon.paraphrase.training.trainer import network, parameters

    recipe = recipe or Recipe()
    data = prepare(pairs, recipe, codes, None)
    vocabulary = data.tokenizer.get_vocab_size()
    with torch.device("meta"):
        weights = parameters(network(recipe, vocabulary))
    steps = math.ceil(math.ceil(len(data.pairs) / recipe.batch_size) / recipe.accumulate)
    return TrainingPlan(
        pairs=len(data.pairs),
        dev=len(data.dev),
        too_long=data.too_long,
        vocabulary=vocabulary,
        parameters=weights,
        steps=steps,
    )


def fit(
    pairs: Sequence[SentencePair],
    folder: str | PathLike[str],
    *,
    recipe: Recipe | None = None,
    codes: CodeFacts | None = None,
    device: str | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], object] | None = None,
) -> Trained:
    """Train an encoder-decoder on pairs (Bawden et al. 2020, appendix; sizes by the recipe).

    The best model so far, by validation, is in the folder from the first validation on. The
    folder ``training`` inside it holds what a run needs to go on, and can be deleted afterwards.
    A run that is interrupted and resumed gives the weights of one that never was, on one machine
    with the same number of threads.

    Where the process is one of several that torchrun or ``accelerate launch`` started, they train
    together, each on its device; the first one writes.

    Args:
        pairs: sentences and paraphrases; all of them with a code, or none. See :func:`select`.
        folder: where the model goes; made if it is missing.
        recipe: sizes and options.
        codes: what the codes of the pairs are (:func:`gnomon.paraphrase.codes.facts`); needed where
            they have some.
        device: "cpu" or "cuda"; by default a GPU if there is one.
        resume: go on with the run that the folder holds; begin one where it holds none.
        progress: called with a stage, what is done and the total.

    Raises:
        DataError: there are too few pairs, none of those held out is within the limit, codes are
            out of range, or the folder holds a run of other data or of another recipe.
        FormatError: the run in the folder is damaged.
        MissingDependencyError: torch, transformers or sentencepiece is not installed.
        OutputError: the folder cannot be written, or the disk is full.
        UsageError: the folder holds a run or a model already and ``resume`` is not given; there is
            no such device.
    """
    _require_trainer()
    from gnomon.paraphrase.training.trainer import arguments, undisturbed

    recipe = recipe or Recipe()
    path = Path(folder)
    options = arguments(path, recipe, device)
    with undisturbed():
        with options.main_process_first(local=False):
            run, data = _begin(pairs, path, recipe, codes, options, resume=resume)
        return _run(path, data, recipe, options, _paraphraser_facts(run, recipe), progress)


def _require_trainer() -> None:
    for package in ("torch", "transformers", "accelerate"):
        if importlib.util.find_spec(package) is None:
            raise not_installed("training", package, "training")


def _begin(
    pairs: Sequence[SentencePair],
    place: Path,
    recipe: Recipe,
    codes: CodeFacts | None,
    options: Arguments,
    *,
    resume: bool,
) -> tuple[dict[str, object], Data]:
    """Begin a run: its facts and data; the first process opens the folder, others find it open."""
    run = _facts(pairs, recipe, codes)
    first = options.process_index == 0
    is_ours = open_run(place, run, resume=resume) if first else True
    data = prepare(pairs, recipe, codes, place if is_ours else None)
    if not is_ours:
        write_tokenizer(place, data.tokenizer, recipe.limit)
        describe_run(place, run)
    return run, data


def _run(
    folder: Path,
    data: Data,
    recipe: Recipe,
    options: Arguments,
    about: dict[str, object],
    progress: Callable[[str, int, int], object] | None,
) -> Trained:
    """Train until something says stop, then choose the model that stays."""
    from transformers import TrainerState

    from gnomon.paraphrase.training.trainer import ParaphraseTrainer, RunCallback, checkpoints

    trainer = ParaphraseTrainer(options, data, recipe)
    judge = RunCallback(
        trainer, folder, recipe, about, progress if options.process_index == 0 else None
    )
    trainer.add_callback(judge)
    last = next(iter(checkpoints(folder)[::-1]), None)
    if last is not None:
        with _checkpoint_errors(last):
            judge.resume(last)
            trainer.state = TrainerState.load_from_json(str(last / "trainer_state.json"))
    stopped = judge.reason_to_stop(trainer.state.global_step, trainer.state.epoch or 0)
    if not stopped:
        with _checkpoint_errors(last, judge):
            trainer.train(resume_from_checkpoint=None if last is None else str(last))
        stopped = judge.reason_to_stop(trainer.state.global_step, trainer.state.epoch)
    trainer.wait_for_all()
    kept = score_of(folder)
    return Trained(
        folder=str(folder),
        steps=trainer.state.global_step,
        epochs=int(trainer.state.epoch or 0),
        seconds=judge.seconds,
        loss=None if kept is None else kept.loss,
        bleu=None if kept is None else kept.bleu,
        stopped=stopped,
    )


@contextmanager
def _checkpoint_errors(
    checkpoint: Path | None, judge: RunCallback | None = None
) -> Generator[None]:
    """Name the checkpoint that cannot be loaded; what fails later is something else."""
    from safetensors import SafetensorError

    try:
        yield
    except (SafetensorError, UnpicklingError, LookupError, OSError, *_DAMAGE) as error:
        if checkpoint is None or (judge is not None and judge.began_to_learn):
            raise
        raise DataError(
            f"the checkpoint {checkpoint} cannot be used: {error}; delete it to go on from an"
            " earlier one, if there is one, or train into another folder"
        ) from error


def _facts(
    pairs: Sequence[SentencePair], recipe: Recipe, codes: CodeFacts | None
) -> dict[str, object]:
    texts = ("\t".join((pair.source, pair.target, str(pair.code))) for pair in pairs)
    return {
        "codes": None if codes is None else asdict(codes),
        "recipe": recipe.fixed(),
        "data": {"pairs": len(pairs), "hash": content_hash("\n".join(texts))},
    }


def _paraphraser_facts(facts: dict[str, object], recipe: Recipe) -> dict[str, object]:
    """Facts for ``gnomon-paraphraser.json``, but for the number of steps."""
    none = {"kind": None, "count": 0, "identity": None}
    return {
        "format": 1,
        "codes": facts["codes"] or none,
        "recipe": asdict(recipe),
        "data": facts["data"],
        "gnomon": version(),
    }


def prepare(
    pairs: Sequence[SentencePair], recipe: Recipe, codes: CodeFacts | None, known: Path | None
) -> Data:
    """Pairs in pieces, to learn from and to tell which pass is the best."""
    from tokenizers import Tokenizer

    from gnomon.models import reading_tokenizer

    _check_codes(pairs, codes)
    kept, dev = hold_out(pairs, recipe.dev, recipe.seed)
    if known is not None:
        file = known / "tokenizer.json"
        with reading_tokenizer(f"the vocabulary {file}"):
            tokenizer = Tokenizer.from_file(str(file))
        tokenizer.encode_special_tokens = True
    else:
        texts = dict.fromkeys(text for pair in kept for text in (pair.source, pair.target))
        model = learn(texts, recipe.vocabulary, recipe.seed)
        tokenizer = fast_tokenizer(model, codes.count if codes else 0)
    every, validation = _encode_pairs(tokenizer, kept), _encode_pairs(tokenizer, dev)
    short = [entry for entry in every if _length(entry) <= recipe.limit]
    if not short:
        raise DataError(f"all {len(kept)} pairs have more pieces than the limit, {recipe.limit}")
    fit = [i for i, entry in enumerate(validation) if _length(entry) <= recipe.limit]
    if not fit:
        raise DataError(
            f"all {len(dev)} pairs that are held out have more pieces than the limit,"
            f" {recipe.limit}; hold out more (dev), raise the limit, or drop longer pairs (words)"
        )
    return Data(
        tokenizer,
        short,
        [validation[i] for i in fit],
        [dev[i] for i in fit],
        len(every) - len(short) + len(dev) - len(fit),
    )


def _encode_pairs(tokenizer: Any, pairs: Sequence[SentencePair]) -> list[Encoded]:
    """Ids of the pieces of both sides, each with ``</s>``; a code is the first of the target."""
    sources = tokenizer.encode_batch([pair.source for pair in pairs])
    targets = tokenizer.encode_batch([pair.target for pair in pairs])
    codes = ([] if p.code is None else [tokenizer.token_to_id(code_token(p.code))] for p in pairs)
    return [
        {"input_ids": source.ids, "labels": [*code, *target.ids]}
        for source, target, code in zip(sources, targets, codes, strict=True)
    ]


def _length(pair: Encoded) -> int:
    return max(map(len, pair.values()))


def _check_codes(pairs: Sequence[SentencePair], codes: CodeFacts | None) -> None:
    count = 0 if codes is None else codes.count
    for number, pair in enumerate(pairs, start=1):
        if (pair.code is None) is not (codes is None):
            raise DataError(
                f"pair {number} has {'no code' if pair.code is None else 'a code'}; give codes for"
                " all pairs and say what they are, or for none"
            )
        if pair.code is not None and not 0 <= pair.code < count:
            raise DataError(
                f"pair {number} has code {pair.code}, and codes go from 0 to {count - 1}; correct"
                " it, or say how many there are"
            )
