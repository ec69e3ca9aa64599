"""The loop: batches, updates, validations, checkpoints."""

from __future__ import annotations

import json
import logging
import math
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError
from gnomon.formats import explain_failure
from gnomon.paraphrase.training._batches import batches
from gnomon.paraphrase.training._checkpoints import (
    Place,
    load_mean,
    load_state,
    save_state,
    write_model,
    write_weights,
)
from gnomon.paraphrase.training._network import build, loss_sum, parameters
from gnomon.paraphrase.training._validation import Score, score_of, validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from gnomon.paraphrase.training._recipe import Recipe
    from gnomon.paraphrase.training._train import Data, Trained

__all__ = ["Run"]

_log = logging.getLogger("gnomon.paraphrase.training")
_BETAS = (0.9, 0.98)


@dataclass
class Run:
    """One call of :func:`train`."""

    folder: Path
    data: Data
    recipe: Recipe
    device: str
    about: Mapping[str, object]
    progress: Callable[[str, int, int], object] | None
    place: Place = field(default_factory=Place)
    _model: Any = None
    _optimizer: Any = None
    _began: float = 0.0
    _before: float = 0.0

    def go(self) -> Trained:
        """Train until something says stop, then choose the model that stays."""
        import torch

        devices = [self.device] if self.device.startswith("cuda") else []
        with torch.random.fork_rng(devices=devices):
            self._begin()
            while not (why := self._over()):
                self._epoch()
            return self._finish(why)

    def _begin(self) -> None:
        import torch

        torch.manual_seed(self.recipe.seed)
        self._model = build(self.recipe, self.data.tokenizer.get_vocab_size()).to(self.device)
        learnt = [one for one in self._model.parameters() if one.requires_grad]
        self._optimizer = torch.optim.Adam(learnt, lr=0.0, betas=_BETAS, eps=1e-9)
        if self._state.is_file():
            self.place = load_state(self._state, self._model, self._optimizer)
            self.place.stopped = ""
            _log.info("going on after step %d", self.place.step)
        self._began, self._before = time.monotonic(), self.place.seconds

    @property
    def _state(self) -> Path:
        return self.folder / "training" / "state.safetensors"

    def _over(self) -> str:
        """Why training ends here, or "" if it goes on."""
        recipe, place = self.recipe, self.place
        minutes = (time.monotonic() - self._began) / 60
        reasons = {
            "steps": recipe.max_steps is not None and place.step >= recipe.max_steps,
            "epochs": recipe.epochs is not None and place.epoch >= recipe.epochs,
            "minutes": recipe.max_minutes is not None and minutes >= recipe.max_minutes,
            "patience": recipe.patience is not None and place.stale >= recipe.patience,
        }
        return next((name for name, true in reasons.items() if true), "")

    def _epoch(self) -> None:
        """What is left of a pass over the data."""
        spent = tokens = 0.0
        since = time.monotonic()
        for group in self._groups():
            loss, count = self._update(group)
            spent, tokens = spent + loss, tokens + count
            self.place.tokens += count
            self._show()
            if self.place.step % self.recipe.validate_every == 0:
                rate = tokens / max(time.monotonic() - since, 1e-9)
                self._validate(spent / tokens, rate)
                spent = tokens = 0.0
                since = time.monotonic()
            if self._over():
                return
        self.place.epoch += 1
        self.place.batch = 0

    def _groups(self) -> Iterator[list[list[int]]]:
        """The batches of each update that the pass has left."""
        every = batches(
            self.data.pairs,
            self.recipe.batch_tokens,
            (self.recipe.seed, 2, self.place.epoch),
        )
        size = self.recipe.accumulate
        for start in range(self.place.batch, len(every), size):
            yield every[start : start + size]

    def _update(self, group: list[list[int]]) -> tuple[float, int]:
        """One step; the summed loss and how many pieces it is over."""
        import torch

        pairs = self.data.pairs
        count = sum(len(pairs[i].target) for batch in group for i in batch)
        self._model.train()
        total = 0.0
        for batch in group:
            with self._precision():
                loss = loss_sum(
                    self._model, [pairs[i] for i in batch], self.device, self.recipe.label_smoothing
                )
            (loss / count).backward()
            total += float(loss.detach())
        if not total < float("inf"):
            raise DataError(
                f"the loss is {total} at step {self.place.step + 1}: training has gone astray;"
                " take a lower learning rate or a longer warm-up"
            )
        weights = self._optimizer.param_groups[0]["params"]
        torch.nn.utils.clip_grad_norm_(weights, self.recipe.clip)
        self._optimizer.param_groups[0]["lr"] = self._rate(self.place.step + 1)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self.place.step += 1
        self.place.batch += len(group)
        return total, count

    def _rate(self, step: int) -> float:
        """Linear warm-up, then the inverse square root of the step."""
        warmup = self.recipe.warmup
        return self.recipe.learning_rate * min(step / warmup, math.sqrt(warmup / step))

    def _precision(self) -> Any:
        import torch

        if self.recipe.precision == "fp32":
            return nullcontext()
        return torch.autocast(self.device.split(":")[0], dtype=torch.bfloat16)

    def _validate(self, loss: float, rate: float) -> None:
        """Score the model, keep it if it is the best, and write a checkpoint."""
        score = self._score()
        better = self._keep(score)
        self.place.count(score, self.recipe.stop_on)
        self._write_average()
        self._write_state()
        self._say(score, better=better, loss=loss, rate=rate)

    def _write_state(self) -> None:
        self.place.seconds = self._before + time.monotonic() - self._began
        save_state(self._state, self._model, self._optimizer, self.place)

    def _score(self) -> Score:
        return validate(self._model, self.data, self.recipe, self.device)

    def _keep(self, score: Score) -> bool:
        """Write the model if the folder holds none that is as good; whether it was written."""
        kept, criterion = score_of(self.folder), self.recipe.stop_on
        if kept is not None and not score.rank(criterion) > kept.rank(criterion):
            return False
        facts = {"steps": self.place.step, "validation": score._asdict()}
        write_model(self.folder, self._model, {**self.about, **facts})
        return True

    def _write_average(self) -> None:
        """Keep the weights of the last validations, as many as are to be averaged."""
        if self.recipe.average < 2:
            return
        name = f"weights-{self.place.step:09d}.safetensors"
        write_weights(self.folder / "training" / name, self._model)
        for old in self._last_weights()[: -self.recipe.average]:
            old.unlink()

    def _last_weights(self) -> list[Path]:
        return sorted((self.folder / "training").glob("weights-*.safetensors"))

    def _finish(self, why: str) -> Trained:
        """Try what no validation has seen, the mean of the last checkpoints too, and sum up.

        None of it is counted in the checkpoint: where a limit ends a call must not matter to the
        run that goes on.
        """
        from gnomon.paraphrase.training._train import Trained

        self.place.stopped = why
        self._write_state()
        if score_of(self.folder) is None or self.place.step % self.recipe.validate_every:
            self._try()
        self._try_average()
        kept = score_of(self.folder)
        return Trained(
            folder=self.folder,
            steps=self.place.step,
            epochs=self.place.epoch,
            tokens=self.place.tokens,
            seconds=self.place.seconds,
            parameters=parameters(self._model),
            stopped=why,
            loss=math.nan if kept is None else kept.loss,
            bleu=None if kept is None else kept.bleu,
        )

    def _try_average(self) -> None:
        files = self._last_weights()
        if self.recipe.average < 2 or len(files) < 2:
            return
        load_mean(files, self._model)
        self._try(f"mean of {len(files)} checkpoints")

    def _try(self, what: str = "") -> None:
        """Keep the weights as they are if no better ones are in the folder."""
        score = self._score()
        self._say(score, better=self._keep(score), what=what)

    def _show(self) -> None:
        if self.progress is not None:
            total = self.recipe.max_steps or self.place.step
            self.progress("training", self.place.step, total)

    def _say(
        self,
        score: Score,
        *,
        better: bool,
        loss: float | None = None,
        rate: float | None = None,
        what: str = "",
    ) -> None:
        place = self.place
        record = {
            "step": place.step,
            "epoch": place.epoch,
            "tokens": place.tokens,
            "seconds": round(place.seconds, 1),
            "training_loss": loss,
            "loss": score.loss,
            "bleu": score.bleu,
            "tokens_per_second": rate,
            "best": better,
            "what": what or "validation",
        }
        with (
            explain_failure(self.folder),
            (self.folder / "training" / "log.jsonl").open("a", encoding="utf-8") as file,
        ):
            file.write(json.dumps(record) + "\n")
        said = [f"step {place.step}", f"pass {place.epoch + 1}"]
        said += [what] if what else []
        said += [] if loss is None else [f"loss {loss:.3f}"]
        said += [f"validation loss {score.loss:.3f}"]
        said += [] if score.bleu is None else [f"BLEU {score.bleu:.2f}"]
        said += ["best so far"] if better else []
        said += [] if rate is None else [f"{rate:.0f} target pieces/s"]
        said += self._left()
        _log.info("%s", ", ".join(said))

    def _left(self) -> list[str]:
        """The time until a limit on steps or minutes, whichever comes first."""
        recipe, spent = self.recipe, time.monotonic() - self._began
        ends = [] if recipe.max_minutes is None else [recipe.max_minutes * 60 - spent]
        if recipe.max_steps is not None and self.place.step:
            total = self._before + spent
            ends.append((recipe.max_steps - self.place.step) * total / self.place.step)
        return [f"{max(min(ends), 0) / 60:.0f} min left"] if ends else []
