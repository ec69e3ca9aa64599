"""The forward pass of a model, piece after piece, with its keys and values kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.errors import DataError, ScoringError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["Steps", "normaliser", "padded"]

#: what helps a model that breaks down in a precision
_HELP = {"fp16": "take precision fp32 or bf16", "bf16": "take precision fp32"}


def padded(rows: Sequence[Sequence[int]], fill: int) -> NDArray[np.int64]:
    """Rows of unequal length as a matrix, filled up at their ends.

    >>> padded([[1], [2, 3]], 0).tolist()
    [[1, 0], [2, 3]]
    """
    found = np.full((len(rows), max(map(len, rows), default=0)), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        found[number, : len(row)] = row
    return found


def normaliser(model: Seq2Seq, logits: Any) -> Any:
    """What turns logits into log-probabilities when taken from them [..., 1].

    Args:
        model: whose they are.
        logits: float32 tensor [..., V].

    Raises:
        ScoringError: they are no numbers, or infinite.
    """
    found = logits.logsumexp(-1, keepdim=True)
    if not bool(found.isfinite().all()):
        raise ScoringError(
            f"the model {model.folder.name!r} in {model.precision} gives no probabilities: some of"
            " its numbers are infinite or undefined;"
            f" {_HELP.get(model.precision, 'its weights are damaged, take another copy of it')}"
        )
    return found


class Steps:
    """The decoder's state for the rows of a batch: one row per hypothesis.

    The encoder runs once per text. Keys and values of the target's own pieces follow the
    hypotheses; those of the source are the same for all hypotheses of a text, and move only when
    texts leave the batch.
    """

    def __init__(self, model: Seq2Seq, sources: Sequence[Sequence[int]]) -> None:
        import torch

        self._model = model
        ids = torch.as_tensor(padded(sources, model.pad), device=model.device)
        lengths = torch.tensor([[len(row)] for row in sources], device=model.device)
        mask = (torch.arange(ids.shape[1], device=model.device) < lengths).long()
        self._encoded = model.model.get_encoder()(input_ids=ids, attention_mask=mask)
        self._mask: Any = mask
        self._cache: Any = None
        model.encoded += len(sources)

    def logits(self, pieces: NDArray[np.int64]) -> Any:
        """Logits after some pieces, which are added to the rows.

        Args:
            pieces: int64 [rows, P].

        Returns:
            float32 tensor [rows, P, V].

        Raises:
            DataError: the model keeps its keys and values in an unknown form.
        """
        import torch

        found = self._model.model(
            encoder_outputs=self._encoded,
            attention_mask=self._mask,
            decoder_input_ids=torch.as_tensor(pieces, device=self._model.device),
            past_key_values=self._cache,
            use_cache=True,
        )
        self._cache = found.past_key_values
        if not hasattr(self._cache, "cross_attention_cache"):
            raise DataError(
                f"model {self._model.folder.name!r} keeps no keys and values of source and target"
                " apart, as encoder-decoder models of transformers 5 do (Marian, BART, T5, ...)"
            )
        self._model.steps += 1
        return found.logits.float()

    def prefix_scores(self, logits: Any, prefixes: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """Log-probabilities of prefixes [rows], from the logits of the decoder's start and them.

        Raises:
            ScoringError: the logits are no numbers, or infinite.
        """
        import torch

        asked = torch.tensor(prefixes, dtype=torch.long, device=logits.device)
        given = logits[:, len(self._model.start) - 1 : -1]
        each = given.gather(2, asked[..., None]) - normaliser(self._model, given)
        found: NDArray[np.float64] = each.double().sum((1, 2)).cpu().numpy()
        return found

    def repeat(self, times: int) -> None:
        """Give every row so many copies, side by side."""
        count = int(self._mask.shape[0])
        self._select_all(np.repeat(np.arange(count), times))

    def follow(self, rows: NDArray[np.int64], *, texts_left: bool) -> None:
        """Take other rows, in this order.

        Args:
            rows: numbers of the present rows.
            texts_left: whether texts left the batch; otherwise each row must come from its text.
        """
        if texts_left:
            self._select_all(rows)
        elif not np.array_equal(rows, np.arange(len(rows))):
            _select(self._cache.self_attention_cache, self._index(rows))

    def _select_all(self, rows: NDArray[np.int64]) -> None:
        index = self._index(rows)
        self._mask = self._mask.index_select(0, index)
        hidden = self._encoded.last_hidden_state
        self._encoded.last_hidden_state = hidden.index_select(0, index)
        _select(self._cache.self_attention_cache, index)
        _select(self._cache.cross_attention_cache, index)

    def _index(self, rows: NDArray[np.int64]) -> Any:
        import torch

        return torch.as_tensor(rows, device=self._model.device)


def _select(cache: Any, index: Any) -> None:
    for layer in cache.layers:
        layer.keys = layer.keys.index_select(0, index)
        layer.values = layer.values.index_select(0, index)
