"""The network, and the callbacks of a paraphraser in transformers' trainer."""

from __future__ import annotations

import json
import logging
import random
import shutil
import time
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from transformers import (
    DataCollatorForSeq2Seq,
    LogitsProcessor,
    LogitsProcessorList,
    MarianConfig,
    MarianMTModel,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
    set_seed,
)
from transformers.trainer_pt_utils import LengthGroupedSampler

from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.data.formats import atomic_write, explain_failure
from gnomon.models import quiet_transformers
from gnomon.models.training_runs import read_json
from gnomon.paraphrase.training.recipe import ABOUT, Progress, Score, score_of
from gnomon.paraphrase.training.vocabulary import EOS, PAD, code_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from gnomon.paraphrase.training.fitting import Data
    from gnomon.paraphrase.training.recipe import Recipe

__all__ = [
    "Arguments",
    "ParaphraseTrainer",
    "PassOrder",
    "RunCallback",
    "arguments",
    "checkpoints",
    "network",
    "parameters",
    "undisturbed",
]


#: written last into a checkpoint: one without it was cut off
_PROGRESS = "progress.json"
_FOREVER = 1_000_000
_log = logging.getLogger("gnomon.paraphrase.training")


def network(recipe: Recipe, vocabulary: int) -> Any:
    """A network with fresh weights, drawn from torch's generator (Glorot; embeddings d**-0.5)."""
    config = MarianConfig(
        vocab_size=vocabulary,
        d_model=recipe.dimensions,
        encoder_layers=recipe.encoder_layers,
        decoder_layers=recipe.decoder_layers,
        encoder_attention_heads=recipe.heads,
        decoder_attention_heads=recipe.heads,
        encoder_ffn_dim=recipe.feed_forward,
        decoder_ffn_dim=recipe.feed_forward,
        dropout=recipe.dropout,
        activation_function="relu",
        max_position_embeddings=recipe.limit,
        scale_embedding=True,
        pad_token_id=PAD,
        eos_token_id=EOS,
        forced_eos_token_id=None,
        decoder_start_token_id=PAD,
    )
    model = MarianMTModel(config)
    for name, weight in model.named_parameters():
        if not weight.requires_grad or weight.dim() < 2:
            continue
        if name.endswith("shared.weight"):
            torch.nn.init.normal_(weight, std=recipe.dimensions**-0.5)
        else:
            torch.nn.init.xavier_uniform_(weight)
    return model


def parameters(model: Any) -> int:
    """Number of weights that are learnt."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


class Arguments(Seq2SeqTrainingArguments):  # type: ignore[misc]  # transformers is not read by mypy
    """The trainer's arguments; a process works on one device, others are other processes."""

    @property
    def n_gpu(self) -> int:
        """Never more than one: several in one process would share a batch (DataParallel)."""
        return min(int(super().n_gpu), 1)


def arguments(folder: Path, recipe: Recipe, device: str | None) -> Arguments:
    """A recipe in the trainer's terms."""
    if device not in {None, "cpu", "cuda"}:
        raise UsageError(
            f"training runs on 'cpu' or 'cuda', not on {device!r}; choose among several GPUs with"
            " CUDA_VISIBLE_DEVICES"
        )
    if device == "cuda" and not torch.cuda.is_available():
        raise UsageError("device 'cuda' cannot be used here: torch finds no GPU")
    cpu = device == "cpu" or not torch.accelerator.is_available()
    if recipe.precision == "fp16" and cpu:
        raise UsageError("precision 'fp16' is for GPUs; take bf16 or fp32 on a CPU")
    if recipe.precision == "bf16" and not cpu and not torch.cuda.is_bf16_supported():
        raise UsageError("this GPU has no 'bf16'; take precision fp16 or fp32")
    return Arguments(
        output_dir=str(folder / "training"),
        use_cpu=cpu,
        dataloader_pin_memory=not cpu,
        bf16=recipe.precision == "bf16",
        fp16=recipe.precision == "fp16",
        per_device_train_batch_size=recipe.batch_size,
        per_device_eval_batch_size=recipe.batch_size,
        gradient_accumulation_steps=recipe.accumulate,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="inverse_sqrt",
        warmup_steps=recipe.warmup,
        weight_decay=0.0,
        adam_beta1=0.9,
        adam_beta2=0.98,
        adam_epsilon=1e-9,
        max_grad_norm=recipe.clip,
        # limits are the callback's: how far a call may go must not matter to the run
        num_train_epochs=_FOREVER,
        eval_strategy="steps",
        save_strategy="steps",
        logging_strategy="steps",
        eval_steps=recipe.validate_every,
        save_steps=recipe.validate_every,
        logging_steps=recipe.validate_every,
        logging_nan_inf_filter=False,
        predict_with_generate=True,
        seed=recipe.seed,
        data_seed=recipe.seed,
        remove_unused_columns=False,
        report_to="none",
        log_level="error",
        log_level_replica="error",
        ddp_find_unused_parameters=False,
        disable_tqdm=True,
    )


@contextmanager
def undisturbed() -> Generator[None]:
    """Leave the random numbers of Python, numpy and torch as they were, and the terminal."""
    plain, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002  # what the trainer seeds
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    try:
        with quiet_transformers(), torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(plain)
        np.random.set_state(legacy)  # noqa: NPY002  # likewise


def checkpoints(folder: Path) -> list[Path]:
    """The whole checkpoints of a run, in the order of their steps."""
    files = (folder / "training").glob(f"checkpoint-*/{_PROGRESS}")
    return sorted(
        (path.parent for path in files), key=lambda path: int(path.name.removeprefix("checkpoint-"))
    )


class PassOrder(LengthGroupedSampler):  # type: ignore[misc]  # transformers is not read by mypy
    """Pairs of like length side by side, in an order that follows from the seed and the pass."""

    def __init__(self, lengths: list[int], batch: int, seed: int) -> None:
        super().__init__(batch, lengths=lengths, generator=torch.Generator())
        self._seed, self._pass = seed, 0

    def set_epoch(self, number: int) -> None:
        """Begin a pass."""
        self._pass = number

    def __iter__(self) -> Iterator[int]:
        # the trainer's own sampler draws from the global state, which a resumed run has not yet
        self.generator.manual_seed(self._seed * _FOREVER + self._pass)
        return iter(super().__iter__())


class _CodesFirst(LogitsProcessor):  # type: ignore[misc]  # transformers is not read by mypy
    """Sentence codes may come first, and nowhere else; padding never comes."""

    def __init__(self, codes: Sequence[int]) -> None:
        self._codes = list(codes)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        scores = scores.clone()
        scores[:, [PAD, *self._codes] if input_ids.shape[1] > 1 else [PAD]] = -torch.inf
        return scores


class ParaphraseTrainer(Seq2SeqTrainer):  # type: ignore[misc]  # transformers is not read by mypy
    """Transformers' trainer with an exact loss per piece, greedy BLEU and repeatable passes."""

    def __init__(self, arguments: Arguments, data: Data, recipe: Recipe) -> None:
        self._data, self._recipe = data, recipe
        self._longest = max(len(pair["input_ids"]) for pair in data.dev)
        # the trainer weighs all batches alike, and fills up the last ones with pairs that it had:
        # with pairs that cost nothing, its mean is that of the pieces
        filled = -len(data.dev) % (recipe.batch_size * arguments.world_size)
        dev = [*data.dev, *([{"input_ids": [EOS], "labels": [-100]}] * filled)]
        self._pieces_per_pair = sum(len(pair["labels"]) for pair in data.dev) / len(dev)
        set_seed(recipe.seed)
        model = network(recipe, data.tokenizer.get_vocab_size())
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=data.tokenizer,
            pad_token="<pad>",  # noqa: S106  # the name of a piece
            eos_token="</s>",  # noqa: S106  # likewise
            unk_token="<unk>",  # noqa: S106  # likewise
        )
        super().__init__(
            model=model,
            args=arguments,
            train_dataset=data.pairs,
            eval_dataset=dev,
            data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
            compute_loss_func=self._loss,
        )
        self.model_accepts_loss_kwargs = False
        self.remove_callback(PrinterCallback)  # standard output is the command's

    def _loss(self, outputs: Any, labels: Any, num_items_in_batch: Any) -> Any:
        """Cross-entropy in nats per piece of the target; without label smoothing to validate."""
        learning = self.model.training
        total = torch.nn.functional.cross_entropy(
            outputs.logits.flatten(0, 1).float(),
            labels.flatten(),
            label_smoothing=self._recipe.label_smoothing if learning else 0.0,
            reduction="sum",
        )
        if learning:
            return total / num_items_in_batch
        # the trainer averages over pairs and multiplies by its processes: so is the mean per piece
        return total / (len(labels) * self._pieces_per_pair * self.accelerator.num_processes)

    @cached_property
    def _order(self) -> PassOrder:
        lengths = [max(len(pair["input_ids"]), len(pair["labels"])) for pair in self._data.pairs]
        return PassOrder(lengths, self.args.train_batch_size, self.args.seed)

    def _get_train_sampler(self, _dataset: object = None) -> PassOrder:
        return self._order

    def set_pass(self, number: int) -> None:
        """Take the order of this pass; Accelerate does not reach it in a resumed pass."""
        self._order.set_epoch(number)

    def training_step(self, *given: Any, **options: Any) -> Any:
        """One batch, forward and back."""
        loss = super().training_step(*given, **options)
        if not bool(torch.isfinite(loss)):
            raise DataError(
                f"the loss is {float(loss)} at step {self.state.global_step + 1}: training has gone"
                " astray; take a lower learning rate or a longer warm-up"
            )
        return loss

    def evaluate(self, *given: Any, **options: Any) -> dict[str, float]:
        """Validate; nothing is drawn from the generators that training draws from."""
        with undisturbed():
            figures: dict[str, float] = super().evaluate(*given, **options)
        return figures

    def evaluation_loop(self, *given: Any, metric_key_prefix: str = "eval", **options: Any) -> Any:
        """Loss over the pairs that are held out, and BLEU of some of them."""
        done = super().evaluation_loop(*given, metric_key_prefix=metric_key_prefix, **options)
        if metric_key_prefix == "eval" and self._recipe.bleu_pairs:
            done.metrics["eval_bleu"] = self._bleu()
        return done

    def _bleu(self) -> float:
        from sacrebleu import corpus_bleu

        codes = set(code_pieces(self._data.tokenizer))
        wanted = [pair.target for pair in self._data.dev_texts[: self._recipe.bleu_pairs]]
        texts = [
            self._data.tokenizer.decode([piece for piece in row if piece not in codes])
            for row in self.decoded(self._data.dev[: len(wanted)])
        ]
        return float(corpus_bleu(texts, [wanted]).score)

    def decoded(self, pairs: Sequence[Mapping[str, list[int]]]) -> list[list[int]]:
        """The likeliest next piece, again and again, without ``</s>``; at most 2 n + 10 pieces."""
        made = self.predict(
            pairs,
            max_length=min(self._recipe.limit, 2 * self._longest + 10) + 1,
            num_beams=1,
            do_sample=False,
            use_cache=True,
            logits_processor=LogitsProcessorList([_CodesFirst(code_pieces(self._data.tokenizer))]),
        ).predictions
        rows = (row[row != -100].tolist()[1:] for row in made[: len(pairs)])
        return [row[: row.index(EOS)] if EOS in row else row for row in rows]

    def _save_checkpoint(self, *given: Any) -> None:
        with explain_failure(Path(self.args.output_dir), SafetensorError, RuntimeError):
            super()._save_checkpoint(*given)
        self.wait_for_all()

    def wait_for_all(self) -> None:
        """Wait for the other processes; accelerate would ask for a GPU each, on the CPU, too."""
        if self.args.device.type != "cpu":
            self.accelerator.wait_for_everyone()
        elif torch.distributed.is_initialized():
            torch.distributed.barrier()

    def keep_model(self, folder: Path, about: Mapping[str, object]) -> None:
        """Write configuration, weights and ``gnomon-paraphraser.json``; the tokeniser is there."""
        self.model.config.use_cache = True  # the trainer turns it off, for training alone
        with TemporaryDirectory(dir=self.args.output_dir) as scratch:
            self.model.save_pretrained(scratch)
            for name in ("config.json", "model.safetensors"):
                (Path(scratch) / name).replace(folder / name)
        self.model.config.use_cache = False
        with atomic_write(folder / ABOUT) as file:
            file.write(json.dumps(about, indent=2) + "\n")


class RunCallback(TrainerCallback):  # type: ignore[misc]  # transformers is not read by mypy
    """Keeps the best model, says how far training is, and when it ends.

    None of what a limit leads to is counted: where a call ends must not matter to the run that
    goes on.
    """

    def __init__(
        self,
        trainer: ParaphraseTrainer,
        folder: Path,
        recipe: Recipe,
        about: Mapping[str, object],
        progress: Callable[[str, int, int], object] | None,
    ) -> None:
        self._trainer, self._folder, self._recipe = trainer, folder, recipe
        self._about, self._show = about, progress
        self.place = Progress()
        self._before, self._began = 0.0, time.monotonic()
        self.began_to_learn = False

    def resume(self, checkpoint: Path) -> None:
        """Take up what the run knew at a checkpoint."""
        stored = read_json(checkpoint / _PROGRESS)
        try:
            best = stored.pop("best")
            self.place = Progress(**stored, best=best and tuple(best))
        except (KeyError, TypeError) as error:
            raise FormatError(
                "is no progress of a run; train into another folder", path=checkpoint / _PROGRESS
            ) from error
        self._before = self.place.seconds

    @property
    def seconds(self) -> float:
        """Spent, over all calls."""
        return self._before + time.monotonic() - self._began

    def reason_to_stop(self, step: int, passes: float) -> str:
        """Why training ends here, or "" if it goes on."""
        recipe = self._recipe
        minutes = (time.monotonic() - self._began) / 60
        late = recipe.max_minutes is not None and minutes >= recipe.max_minutes
        reasons = {
            "steps": recipe.max_steps is not None and step >= recipe.max_steps,
            "epochs": recipe.epochs is not None and passes >= recipe.epochs,
            "minutes": recipe.max_minutes is not None and self._agreed(late),
            "patience": recipe.patience is not None and self.place.stale >= recipe.patience,
        }
        return next((name for name, true in reasons.items() if true), "")

    def _agreed(self, late: bool) -> bool:  # noqa: FBT001  # what a comparison gives
        """True if the clock of the first process says so."""
        if self._trainer.accelerator.num_processes == 1:
            return late
        from accelerate.utils import broadcast_object_list

        return bool(broadcast_object_list([late])[0])

    def on_epoch_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        """Set the pass."""
        self._trainer.set_pass(int(state.epoch or 0))

    def on_step_begin(self, _args: Any, _state: Any, _control: Any, **_: Any) -> None:
        """Note that training began."""
        self.began_to_learn = True

    def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> None:
        """Show progress, and stop where it was asked for."""
        if self._show is not None:
            self._show("training", state.global_step, self._recipe.max_steps or state.global_step)
        if self.reason_to_stop(state.global_step, state.epoch):
            control.should_log = control.should_evaluate = control.should_save = True
            control.should_training_stop = True

    def on_evaluate(self, _args: Any, state: Any, control: Any, metrics: Any, **_: Any) -> None:
        """Keep the score of an evaluation."""
        score = Score(metrics["eval_loss"], metrics.get("eval_bleu"))
        if state.global_step % self._recipe.validate_every == 0:
            self.place.count(score, self._recipe.stop_on)
        if self.reason_to_stop(state.global_step, state.epoch):
            control.should_training_stop = True
        if state.is_world_process_zero:
            self._say(score, state, better=self._keep(score, state.global_step))

    def _keep(self, score: Score, step: int) -> bool:
        """Write the model if the folder holds none that is as good; whether it was written."""
        kept, criterion = score_of(self._folder), self._recipe.stop_on
        if kept is not None and not score.rank(criterion) > kept.rank(criterion):
            return False
        facts = {"steps": step, "validation": score._asdict()}
        with explain_failure(self._folder, SafetensorError):
            self._trainer.keep_model(self._folder, {**self._about, **facts})
        return True

    def on_save(self, args: Any, state: Any, _control: Any, **_: Any) -> None:
        """Complete a checkpoint, and delete those before it."""
        if not state.is_world_process_zero:
            return
        new = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        self.place.seconds = self.seconds
        (new / "training_args.bin").unlink(missing_ok=True)  # a pickle that nobody reads
        with atomic_write(new / _PROGRESS) as file:
            file.write(json.dumps(asdict(self.place)) + "\n")
        for old in Path(args.output_dir).glob("checkpoint-*"):
            if old != new:
                shutil.rmtree(old)

    def _say(self, score: Score, state: Any, *, better: bool) -> None:
        last = state.log_history[-2] if len(state.log_history) > 1 else {}
        parts = [f"step {state.global_step}", f"pass {int(state.epoch) + 1}"]
        parts += [f"loss {last['loss']:.3f}"] if "loss" in last else []
        parts += [f"validation loss {score.loss:.3f}"]
        parts += [] if score.bleu is None else [f"BLEU {score.bleu:.2f}"]
        parts += ["best so far"] if better else []
        _log.debug("%s", ", ".join(parts))
