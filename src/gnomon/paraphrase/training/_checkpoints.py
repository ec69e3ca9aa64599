"""What outlives an interruption: weights, the optimizer, generators and the place in the data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.paraphrase.training._validation import Score

__all__ = [
    "ABOUT",
    "Place",
    "load_mean",
    "load_state",
    "read_json",
    "save_state",
    "write_model",
    "write_weights",
]

#: what describes a model, beside it
ABOUT = "gnomon-paraphraser.json"
_SLOTS = ("exp_avg", "exp_avg_sq", "step")


@dataclass
class Place:
    """How far a run is.

    Attributes:
        step: updates done.
        epoch: passes done.
        batch: batches done of the pass.
        tokens: target pieces seen.
        seconds: spent, over all calls.
        best: rank of the best validation; see :meth:`Score.rank`.
        lowest: the lowest validation loss.
        stale: validations since one that was better.
        stopped: why the run is over, if it is.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    tokens: int = 0
    seconds: float = 0.0
    best: tuple[float, ...] | None = None
    lowest: float | None = None
    stale: int = 0
    stopped: str = ""

    def count(self, score: Score, stop_on: str) -> None:
        """Take note of a validation.

        While nothing matches yet (BLEU is 0), a lower loss is progress, even if a lucky match went
        before.
        """
        rank = score.rank(stop_on)
        lower = self.lowest is None or score.loss < self.lowest
        better = self.best is None or rank > self.best
        self.stale = 0 if better or (lower and score.bleu == 0) else self.stale + 1
        self.best = rank if better else self.best
        self.lowest = score.loss if lower else self.lowest


def save_state(path: Path, model: Any, optimizer: Any, place: Place) -> None:
    """Write a checkpoint, whole or not at all.

    Raises:
        OutputError: the disk is full, or the folder may not be written to.
    """
    import torch
    from safetensors.torch import save

    from gnomon.formats import atomic_write

    tensors = {"rng/cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors["rng/cuda"] = torch.cuda.get_rng_state()
    for name, weight in _learnt(model):
        tensors[f"weight/{name}"] = weight.detach().cpu().contiguous()
        for slot, value in optimizer.state.get(weight, {}).items():
            tensors[f"{slot}/{name}"] = value.detach().cpu().contiguous()
    with atomic_write(path, "wb") as file:
        file.write(save(tensors, metadata={"place": json.dumps(asdict(place))}))


def load_state(path: Path, model: Any, optimizer: Any) -> Place:
    """Put a checkpoint into a model, its optimizer and torch's generators.

    Raises:
        DataError: the file is damaged, or of another model.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            place = _place(json.loads(file.metadata()["place"]))
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        with torch.no_grad():
            for name, weight in _learnt(model):
                weight.copy_(stored[f"weight/{name}"])
                slots = {slot: stored.get(f"{slot}/{name}") for slot in _SLOTS}
                if None not in slots.values():
                    optimizer.state[weight] = _placed(slots, weight.device)
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise DataError(
            f"the checkpoint {path} cannot be used: {error}; train into another folder"
        ) from error
    torch.set_rng_state(stored["rng/cpu"])
    if "rng/cuda" in stored and torch.cuda.is_available():
        torch.cuda.set_rng_state(stored["rng/cuda"])
    return place


def write_model(folder: Path, model: Any, about: Mapping[str, object]) -> None:
    """Write configuration, weights and ``gnomon-paraphraser.json``; the tokeniser is there."""
    from gnomon.formats import atomic_write

    config = {**model.config.to_diff_dict(), "architectures": ["MarianMTModel"]}
    with atomic_write(folder / "config.json") as file:
        file.write(json.dumps(config, indent=2, sort_keys=True) + "\n")
    write_weights(folder / "model.safetensors", model)
    with atomic_write(folder / ABOUT) as file:
        file.write(json.dumps(about, indent=2) + "\n")


def write_weights(path: Path, model: Any) -> None:
    """Write the weights alone; fixed positions are computed, not stored."""
    from safetensors.torch import save

    from gnomon.formats import atomic_write

    tensors = {name: weight.detach().cpu().contiguous() for name, weight in _learnt(model)}
    tensors["final_logits_bias"] = model.final_logits_bias.cpu()
    with atomic_write(path, "wb") as file:
        file.write(save(tensors, metadata={"format": "pt"}))


def load_mean(files: Sequence[Path], model: Any) -> None:
    """Put the mean of some weights into a model."""
    import torch
    from safetensors.torch import load_file

    every = [load_file(file) for file in files]
    with torch.no_grad():
        for name, weight in _learnt(model):
            weight.copy_(torch.stack([one[name] for one in every]).mean(dim=0))


def read_json(path: Path) -> dict[str, Any]:
    """Read what a run wrote about itself.

    Raises:
        FormatError: the file is damaged.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FormatError(f"is no JSON: {error}; train into another folder", path=path) from error
    if not isinstance(found, dict):
        raise FormatError("is no JSON object; train into another folder", path=path)
    return found


def _place(stored: Mapping[str, Any]) -> Place:
    """A place as it was; runs begun earlier kept BLEU, or minus the loss, alone as the best."""
    best = stored["best"]
    rank = (best,) if isinstance(best, float) else best and tuple(best)
    return Place(**{**stored, "best": rank})


def _learnt(model: Any) -> list[tuple[str, Any]]:
    return [(name, one) for name, one in model.named_parameters() if one.requires_grad]


def _placed(slots: Mapping[str, Any], device: Any) -> dict[str, Any]:
    """Moments where the weights are; Adam keeps its counter on the CPU."""
    return {slot: one if slot == "step" else one.to(device) for slot, one in slots.items()}
