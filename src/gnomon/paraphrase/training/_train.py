"""From pairs to a paraphraser."""

from __future__ import annotations

import importlib.util
import json
import math
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from gnomon.errors import DataError, MissingDependencyError, UsageError
from gnomon.formats import atomic_write, explain_failure
from gnomon.paraphrase.training._pairs import held_out
from gnomon.paraphrase.training._recipe import Recipe, read_json, score_of
from gnomon.paraphrase.training._vocabulary import (
    code_token,
    fast_tokenizer,
    learn,
    write_tokenizer,
)
from gnomon.signature import content_hash, version

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from os import PathLike

    from gnomon.paraphrase.training._pairs import SentencePair
    from gnomon.paraphrase.training._trainer import Arguments, RunCallback


#: what a damaged file makes libraries raise, beside errors of their own
_DAMAGE = (ValueError, TypeError, RuntimeError, EOFError)


@dataclass(frozen=True)
class CodeKind:
    """What the sentence codes of some pairs are.

    Attributes:
        kind: what they stand for.
        count: how many there are; codes go from 0 to count - 1.
        identity: of the folder with the clusters, if there is one.
    """

    kind: Literal["semantic", "syntactic", "random"]
    count: int
    identity: str | None = None

    @classmethod
    def of(cls, folder: str | PathLike[str]) -> Self:
        """What the codes of a folder are.

        Raises:
            MissingFileError: there are no codes in it.
            DataError: its description is damaged.
        """
        from gnomon.paraphrase.codes import facts

        return cls(**asdict(facts(folder)))


class TrainingPlan(NamedTuple):
    """What a run would do.

    Attributes:
        pairs: to train on.
        dev: held out.
        too_long: left out for more pieces than the limit.
        vocabulary: pieces and codes.
        parameters: weights that are learnt.
        tokens: pieces of the sources of one pass.
        steps: updates of one pass, on one device.
    """

    pairs: int
    dev: int
    too_long: int
    vocabulary: int
    parameters: int
    tokens: int
    steps: int


class Trained(NamedTuple):
    """What a run did.

    Attributes:
        folder: the model.
        steps: updates, over all calls.
        epochs: whole passes.
        tokens: pieces of sources seen.
        seconds: spent, over all calls.
        loss: validation loss of the model in the folder, in nats per piece.
        bleu: its validation BLEU by greedy decoding, if that was measured.
        parameters: weights that were learnt.
        stopped: why the run ended: "epochs", "steps", "minutes" or "patience".
    """

    folder: Path
    steps: int
    epochs: int
    tokens: int
    seconds: float
    loss: float
    bleu: float | None
    parameters: int
    stopped: str


Encoded = dict[str, list[int]]


class Data(NamedTuple):
    """Pairs as pieces (``input_ids`` and ``labels``), and the tokeniser that made them."""

    tokenizer: Any
    pairs: list[Encoded]
    dev: list[Encoded]
    dev_texts: list[SentencePair]
    too_long: int


def plan(
    pairs: Sequence[SentencePair], *, recipe: Recipe | None = None, codes: CodeKind | None = None
) -> TrainingPlan:
    """Count what :func:`train` would do; nothing is written.

    Raises:
        DataError: as :func:`train`.
        UsageError: as :func:`train`.
    """
    _require_trainer()
    import torch

    from gnomon.paraphrase.training._trainer import network, parameters

    recipe = recipe or Recipe()
    data = _prepare(pairs, recipe, codes, None)
    vocabulary = data.tokenizer.get_vocab_size()
    with torch.device("meta"):
        weights = parameters(network(recipe, vocabulary))
    steps = math.ceil(math.ceil(len(data.pairs) / recipe.batch_size) / recipe.accumulate)
    tokens = sum(len(one["input_ids"]) for one in data.pairs)
    return TrainingPlan(
        len(data.pairs), len(data.dev), data.too_long, vocabulary, weights, tokens, steps
    )


def train(
    pairs: Sequence[SentencePair],
    folder: str | PathLike[str],
    *,
    recipe: Recipe | None = None,
    codes: CodeKind | None = None,
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
        codes: what the codes of the pairs are; needed where they have some.
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
    from gnomon.paraphrase.training._trainer import arguments, undisturbed

    recipe = recipe or Recipe()
    place = Path(folder)
    options = arguments(place, recipe, device)
    with undisturbed():
        with options.main_process_first(local=False):
            facts, data = _begin(pairs, place, recipe, codes, options, resume=resume)
        return _run(place, data, recipe, options, _about(facts, recipe), progress)


def _require_trainer() -> None:
    for package in ("torch", "transformers", "accelerate"):
        if importlib.util.find_spec(package) is None:
            raise MissingDependencyError(
                f"training needs the package {package}, which is not installed; install it with:"
                " pip install 'gnomon[training]'"
            )


def _begin(
    pairs: Sequence[SentencePair],
    place: Path,
    recipe: Recipe,
    codes: CodeKind | None,
    options: Arguments,
    *,
    resume: bool,
) -> tuple[dict[str, object], Data]:
    """What the run is, and its data; the first process opens the folder, others find it open."""
    codes = _codes_as_begun(place, codes)
    facts = _facts(pairs, recipe, codes)
    first = options.process_index == 0
    known = _open(place, facts, resume=resume) if first else True
    data = _prepare(pairs, recipe, codes, place if known else None)
    if not known:
        write_tokenizer(place, data.tokenizer, recipe.limit)
        _write_json(place / "training" / "run.json", facts)
    return facts, data


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

    from gnomon.paraphrase.training._trainer import (
        ParaphraseTrainer,
        RunCallback,
        checkpoints,
        parameters,
    )

    trainer = ParaphraseTrainer(options, data, recipe)
    judge = RunCallback(
        trainer, folder, recipe, about, progress if options.process_index == 0 else None
    )
    trainer.add_callback(judge)
    last = next(iter(checkpoints(folder)[::-1]), None)
    if last is not None:
        with _named(last):
            judge.resume(last)
            trainer.state = TrainerState.load_from_json(str(last / "trainer_state.json"))
    stopped = judge.over(trainer.state.global_step, trainer.state.epoch or 0)
    if not stopped:
        with _named(last, judge):
            trainer.train(resume_from_checkpoint=None if last is None else str(last))
        stopped = judge.over(trainer.state.global_step, trainer.state.epoch)
    averaged = judge.counted()
    if recipe.average > 1 and len(averaged) > 1:
        trainer.load_mean(averaged)
        judge.candidate = f"mean of {len(averaged)} checkpoints"
        trainer.evaluate()
    trainer.accelerator.wait_for_everyone()
    kept = score_of(folder)
    return Trained(
        folder=folder,
        steps=trainer.state.global_step,
        epochs=int(trainer.state.epoch or 0),
        tokens=int(trainer.state.num_input_tokens_seen),
        seconds=judge.seconds,
        loss=math.nan if kept is None else kept.loss,
        bleu=None if kept is None else kept.bleu,
        parameters=parameters(trainer.model),
        stopped=stopped,
    )


@contextmanager
def _named(checkpoint: Path | None, judge: RunCallback | None = None) -> Generator[None]:
    """Name the checkpoint that cannot be loaded; what fails later is something else.

    Raises:
        DataError: in place of what libraries raise.
    """
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


def _codes_as_begun(folder: Path, codes: CodeKind | None) -> CodeKind | None:
    """The codes, or what a run says of them that was begun without knowing where they come from."""
    run = folder / "training" / "run.json"
    before = read_json(run).get("codes") if run.is_file() else None
    if codes is None or not isinstance(before, dict) or before.get("identity") is not None:
        return codes
    return CodeKind(**before) if before.get("kind") == codes.kind else codes


def _facts(
    pairs: Sequence[SentencePair], recipe: Recipe, codes: CodeKind | None
) -> dict[str, object]:
    texts = ("\t".join((one.source, one.target, str(one.code))) for one in pairs)
    return {
        "codes": None if codes is None else asdict(codes),
        "recipe": recipe.fixed(),
        "data": {"pairs": len(pairs), "hash": content_hash("\n".join(texts))},
    }


def _about(facts: dict[str, object], recipe: Recipe) -> dict[str, object]:
    """What ``gnomon-paraphraser.json`` says, but for the number of steps."""
    none = {"kind": None, "count": 0, "identity": None}
    return {
        "format": 1,
        "codes": facts["codes"] or none,
        "recipe": asdict(recipe),
        "data": facts["data"],
        "gnomon": version(),
    }


def _open(folder: Path, facts: dict[str, object], *, resume: bool) -> bool:
    """Make the folder, or find a run in it that is this one."""
    run = folder / "training" / "run.json"
    if not run.is_file():
        if (folder / "config.json").exists():
            raise UsageError(
                f"{folder} holds a model and no run to go on with; name another folder"
            )
        with explain_failure(folder):
            (folder / "training").mkdir(parents=True, exist_ok=True)
        return False
    if not resume:
        raise UsageError(f"{folder} holds a run; go on with it (--resume), or name another folder")
    before = read_json(run)
    for part, value in facts.items():
        now = json.loads(json.dumps(value))
        if before.get(part) != now:
            raise DataError(
                f"the run in {folder} has other {part}: {_differing(before.get(part), now)}; give"
                " the same, or name another folder"
            )
    return True


def _differing(before: Any, now: Any) -> str:
    """What two descriptions say differently."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return f"{before}, now {now}"
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return "; ".join(f"{name} {before.get(name)}, now {now.get(name)}" for name in names)


def _prepare(
    pairs: Sequence[SentencePair], recipe: Recipe, codes: CodeKind | None, known: Path | None
) -> Data:
    from tokenizers import Tokenizer

    _check_codes(pairs, codes)
    kept, dev = held_out(pairs, recipe.dev, recipe.seed)
    if known is not None:
        tokenizer = Tokenizer.from_file(str(known / "tokenizer.json"))
        tokenizer.encode_special_tokens = True
    else:
        texts = dict.fromkeys(text for pair in kept for text in (pair.source, pair.target))
        model = learn(texts, recipe.vocabulary, recipe.seed)
        tokenizer = fast_tokenizer(model, codes.count if codes else 0)
    every, held = _encoded(tokenizer, kept), _encoded(tokenizer, dev)
    short = [one for one in every if _length(one) <= recipe.limit]
    if not short:
        raise DataError(f"all {len(kept)} pairs have more pieces than the limit, {recipe.limit}")
    fit = [i for i, one in enumerate(held) if _length(one) <= recipe.limit]
    if not fit:
        raise DataError(
            f"all {len(dev)} pairs that are held out have more pieces than the limit,"
            f" {recipe.limit}; hold out more (dev), raise the limit, or drop longer pairs (words)"
        )
    return Data(
        tokenizer,
        short,
        [held[i] for i in fit],
        [dev[i] for i in fit],
        len(every) - len(short) + len(dev) - len(fit),
    )


def _encoded(tokenizer: Any, pairs: Sequence[SentencePair]) -> list[Encoded]:
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


def _check_codes(pairs: Sequence[SentencePair], codes: CodeKind | None) -> None:
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


def _write_json(path: Path, value: object) -> None:
    with atomic_write(path) as file:
        file.write(json.dumps(value, indent=2) + "\n")
