"""A language model that predicts texts from left to right: how probable is a text?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.models._folder import (
    ModelFolder,
    find_model,
    piece_limit,
    read_causal,
    usable_device,
)
from gnomon.models._pieces import length_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


__all__ = ["CausalModel", "load_causal"]

#: padded pieces per batch: every one of them takes a number for each word of the vocabulary
_BUDGET = {"cpu": 512, "cuda": 8192}


@dataclass(eq=False)
class CausalModel:
    """A causal language model; made by :func:`load_causal`.

    Attributes:
        folder: the model.
        limit: most pieces of a text that it takes; None where there is no limit.
        device: "cpu", "cuda", ...
        scored: texts scored so far.
    """

    folder: ModelFolder
    limit: int | None
    device: str
    tokenizer: Any = field(repr=False)
    model: Any = field(repr=False)
    scored: int = 0

    @property
    def identity(self) -> str:
        """Model and revision or hash."""
        return self.folder.identity

    def log_probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Mean natural logarithm of the probability of each piece given those before it.

        The first piece of a text is given and not predicted: nothing is put before it. Pieces
        beyond the model's limit are left out.

        Args:
            texts: the texts; each is scored once, so leave out repetitions.

        Returns:
            float64 [T], at most 0; 0 for texts of fewer than two pieces.
        """
        if not texts:
            return np.zeros(0)
        rows = self.tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        ids = [row[: self.limit] for row in rows]
        lengths = np.array([len(row) for row in ids], dtype=np.int64)
        means = np.zeros(len(texts))
        long = np.flatnonzero(lengths > 1)
        budget = _BUDGET.get(self.device.split(":")[0], _BUDGET["cpu"])
        for group in length_batches(lengths[long], budget):
            batch = long[group]
            means[batch] = self._means([ids[int(number)] for number in batch])
        self.scored += len(texts)
        return means

    def _means(self, batch: list[list[int]]) -> NDArray[np.float64]:
        import torch

        width = max(map(len, batch))
        ids = torch.zeros((len(batch), width), dtype=torch.long)
        kept = torch.zeros_like(ids)
        for row, pieces in enumerate(batch):
            ids[row, : len(pieces)] = torch.tensor(pieces)
            kept[row, : len(pieces)] = 1
        ids, kept = ids.to(self.device), kept.to(self.device)
        with torch.inference_mode():
            logits = self.model(input_ids=ids, attention_mask=kept).logits[:, :-1].float()
            lost = torch.nn.functional.cross_entropy(
                logits.transpose(1, 2), ids[:, 1:], reduction="none"
            )
            means = -(lost * kept[:, 1:]).sum(dim=1) / kept[:, 1:].sum(dim=1)
        log_probabilities: NDArray[np.float64] = means.double().cpu().numpy()
        return log_probabilities


def load_causal(
    name: str, *, revision: str | None = None, device: str | None = None
) -> CausalModel:
    """Load a model that predicts texts from left to right, such as gpt2.

    Args:
        name: a folder, ``package:NAME/FOLDER``, or a name on the hub; see :func:`find_model`.
        revision: commit, tag or branch on the hub.
        device: "cpu", "cuda", "cuda:1"; by default a GPU if there is one.

    Raises:
        MissingDependencyError: torch, transformers or the model is not installed.
        DataError: the folder is no such model, or cannot be loaded.
        UsageError: the machine has no such device.
    """
    folder = find_model(name, revision)
    return _load_causal(folder, folder.identity, usable_device(device, "a causal language model"))


@lru_cache(maxsize=2)
def _load_causal(folder: ModelFolder, _identity: str, device: str) -> CausalModel:
    tokenizer, model = read_causal(folder)
    limit = piece_limit(tokenizer, model.config)
    return CausalModel(folder, limit, device, tokenizer, model.to(device))
