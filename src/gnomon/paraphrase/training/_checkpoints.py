"""What outlives an interruption: weights, the optimizer, generators and the place in the data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Place", "load_state", "read_weights", "save_state", "write_model", "write_weights"]

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
        best: the best validation score (BLEU, or minus the loss).
        stale: validations since.
        stopped: why the run is over, if it is.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    tokens: int = 0
    seconds: float = 0.0
    best: float | None = None
    stale: int = 0
    stopped: str = ""


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
            place = Place(**json.loads(file.metadata()["place"]))
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
    with atomic_write(folder / "gnomon-paraphraser.json") as file:
        file.write(json.dumps(about, indent=2) + "\n")


def write_weights(path: Path, model: Any) -> None:
    """Write the weights alone; fixed positions are computed, not stored."""
    from safetensors.torch import save

    from gnomon.formats import atomic_write

    tensors = {name: weight.detach().cpu().contiguous() for name, weight in _learnt(model)}
    tensors["final_logits_bias"] = model.final_logits_bias.cpu()
    with atomic_write(path, "wb") as file:
        file.write(save(tensors, metadata={"format": "pt"}))


def read_weights(path: Path) -> dict[str, Any]:
    """Weights by name."""
    from safetensors.torch import load_file

    found: dict[str, Any] = load_file(path)
    return found


def _learnt(model: Any) -> list[tuple[str, Any]]:
    return [(name, one) for name, one in model.named_parameters() if one.requires_grad]


def _placed(slots: Mapping[str, Any], device: Any) -> dict[str, Any]:
    """Moments where the weights are; Adam keeps its counter on the CPU."""
    return {slot: one if slot == "step" else one.to(device) for slot, one in slots.items()}
