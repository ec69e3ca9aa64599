"""The continuations of all hypotheses, with their probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.models.decoding._candidates import best_entries
from gnomon.models.decoding._steps import normaliser

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.models.decoding._plan import Plan
    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["Scored"]


class Scored:
    """Log-probabilities of all continuations of some hypotheses.

    Args:
        model: which pieces are never produced is its.
        plan: how to search.
        logits: float32 tensor [rows, V]; rows are slots times beam.
        total: log-probabilities of the hypotheses [slots, beam].
        place: pieces of the hypotheses so far.

    Raises:
        ScoringError: logits are no numbers, or infinite.
    """

    def __init__(
        self, model: Seq2Seq, plan: Plan, logits: Any, total: NDArray[np.float64], place: int
    ) -> None:
        import torch

        self._plan, self._end = plan, model.end
        self._logits, self._before = logits, total
        self._norm = normaliser(model, logits)
        before = torch.as_tensor(total.reshape(-1, 1), device=logits.device).float()
        self._scores = logits + (before - self._norm)
        self._scores[:, model.silent_at(place)] = -torch.inf

    def end_only(self, slots: NDArray[np.bool_]) -> None:
        """Let the hypotheses of some slots only end."""
        import torch

        if not slots.any():
            return
        rows = torch.as_tensor(np.repeat(slots, self._plan.beam), device=self._scores.device)
        end = self._scores[rows, self._end]
        self._scores[rows] = -torch.inf
        self._scores[rows, self._end] = end

    def best(self, going_on: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The best continuations of each slot, twice as many as the beam is wide.

        Args:
            going_on: slots that are not done [S]; what others take costs nobody anything.

        Returns:
            Hypotheses and pieces [S, M], the best first.
        """
        beam, size = self._plan.beam, self._scores.shape[1]
        if self._plan.groups > 1:
            places = self._group_by_group(going_on)
        else:
            places = best_entries(self._scores.view(-1, beam * size), 2 * beam)[1]
        found = places.cpu().numpy()
        return found // size, found % size

    def best_of_each(self) -> NDArray[np.int64]:
        """The best continuation of each hypothesis [S, beam, 1]."""
        found: NDArray[np.int64] = self._scores.argmax(-1).cpu().numpy()
        return found.reshape(-1, self._plan.beam, 1)

    def totals(self, parent: NDArray[np.int64], piece: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log-probabilities [S, M] summed in double precision; -inf for what is not allowed."""
        import torch

        first = np.arange(len(parent))[:, None] * self._plan.beam
        rows = torch.as_tensor(first + parent, device=self._scores.device)
        columns = torch.as_tensor(np.maximum(piece, 0), device=self._scores.device)
        step = self._logits[rows, columns].double() - self._norm[rows, 0].double()
        step[self._scores[rows, columns].isneginf()] = -torch.inf
        found: NDArray[np.float64] = step.cpu().numpy()
        found[piece < 0] = -np.inf
        return found + np.take_along_axis(self._before, parent, axis=1)

    def _group_by_group(self, going_on: NDArray[np.bool_]) -> Any:
        """Of each slot the best, where a group pays for the pieces that earlier groups took."""
        import torch

        groups, beam, size = self._plan.groups, self._plan.beam, self._scores.shape[1]
        table = self._scores.view(-1, groups, beam, size)
        taken = torch.zeros((len(table), size), device=table.device)
        counts = torch.as_tensor(going_on.reshape(-1, groups), device=table.device)
        found = []
        for group in range(groups):
            own = table[:, group] - self._plan.strength * taken[:, None]
            values, places = best_entries(own.flatten(1), 2 * beam)
            found.append(places)
            pieces = places % size
            kept = (pieces != self._end) & values.isfinite()
            kept &= (kept.cumsum(1) <= beam) & counts[:, group, None]
            taken.scatter_add_(1, pieces, kept.float())
        return torch.stack(found, dim=1).flatten(0, 1)
