"""A language model that predicts texts from left to right: how probable is a text?"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.models._cache_names import cache_argument, output_cache
from gnomon.models._folder import (
    ModelFolder,
    find_model,
    piece_limit,
    read_causal,
    usable_device,
)
from gnomon.models.word_pieces import length_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


__all__ = ["CausalModel", "load_causal"]

#: padded pieces per batch: every one of them takes a number for each word of the vocabulary
_BUDGET = {"cpu": 512, "cuda": 8192}
#: continuations that are read at a time: each has the memory of the whole prompt
_CONTINUED = 16


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

    def answer_log_probabilities(
        self, prompt: str, answers: Sequence[str], *, special: bool = True
    ) -> NDArray[np.float64] | None:
        """Natural logarithm of the probability that a prompt goes on with each of some answers.

        It is the sum over the pieces of the answer. Prompt and answer are cut into pieces together,
        so that a piece may cross the border; what is summed are the pieces after those that all
        texts share. The prompt is read once. No answer should begin another one.

        Args:
            prompt: what stands before.
            answers: different texts.
            special: put the pieces before a text that the tokeniser puts there; False where the
                prompt holds them.

        Returns:
            float64 [A], at most 0; None where prompt and answers are longer than the model takes.
        """
        rows = self.tokenizer(
            [prompt, *(f"{prompt}{answer}" for answer in answers)],
            add_special_tokens=special,
            verbose=False,
        )["input_ids"]
        before, texts = rows[0], rows[1:]
        longest = max(map(len, texts))
        if self.limit is not None and longest > self.limit:
            return None
        shared = 0
        least = min(len(before), *(len(ids) - 1 for ids in texts))
        while shared < least and all(ids[shared] == before[shared] for ids in texts):
            shared += 1
        if not shared:
            raise ValueError("a prompt of no pieces has no continuation")
        self.scored += 1
        return self._continued(before[:shared], [ids[shared:] for ids in texts])

    def _continued(self, before: list[int], rests: list[list[int]]) -> NDArray[np.float64]:
        """Sums of the log-probabilities of the pieces of each continuation, float64 [A]."""
        import torch

        with torch.inference_mode():
            prompt = torch.tensor([before], device=self.device)
            output = self.model(input_ids=prompt, use_cache=True, **self._last_only)
            first = output.logits[0, -1].float().log_softmax(dim=-1).double().cpu()
            sums = np.array([float(first[rest[0]]) for rest in rests])
            longer = [number for number, rest in enumerate(rests) if len(rest) > 1]
            for at in range(0, len(longer), _CONTINUED):
                some = longer[at : at + _CONTINUED]
                sums[some] += self._after(before, output, [rests[number] for number in some])
        return sums

    def _after(self, before: list[int], output: Any, rests: list[list[int]]) -> NDArray[np.float64]:
        """Sums of the log-probabilities of all pieces but the first, float64 [A]."""
        import torch

        past = output_cache(output)
        again = [] if hasattr(past, "batch_repeat_interleave") else before  # no memory to share
        width = max(map(len, rests)) - 1
        ids = torch.zeros((len(rests), len(again) + width), dtype=torch.long)
        targets = torch.zeros((len(rests), width), dtype=torch.long)
        kept = torch.zeros_like(targets)
        for row, rest in enumerate(rests):
            size = len(rest) - 1
            ids[row, : len(again) + size] = torch.tensor([*again, *rest[:-1]])
            targets[row, :size] = torch.tensor(rest[1:])
            kept[row, :size] = 1
        given: dict[str, Any] = {}
        if not again:
            past = copy.deepcopy(past)
            past.batch_repeat_interleave(len(rests))
            given = cache_argument(self.model, past)
        mask = torch.cat([torch.ones((len(rests), len(before)), dtype=torch.long), kept], dim=1)
        logits = self.model(
            input_ids=ids.to(self.device), attention_mask=mask.to(self.device), **given
        ).logits[:, -width:]
        steps = logits.float().log_softmax(dim=-1).double().cpu()
        values = steps.gather(2, targets[:, :, None])[:, :, 0]
        sums: NDArray[np.float64] = (values * kept).sum(dim=1).numpy()
        return sums

    @cached_property
    def _last_only(self) -> dict[str, int]:
        """Asks for the logits after the last piece alone, where the model can be asked so."""
        name = "logits_to_keep"
        return {name: 1} if name in signature(self.model.forward).parameters else {}

    @cached_property
    def looks_ahead(self) -> bool:
        """True if what it says of a piece depends on later ones, as in no causal model."""
        import torch

        size = min(3, int(self.model.config.get_text_config().vocab_size))
        ids = torch.tensor([[0, n % size] for n in (1, 2)], device=self.device)
        with torch.inference_mode():
            first, second = self.model(input_ids=ids).logits[:, 0].float()
        return not torch.allclose(first, second, atol=1e-4)

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
