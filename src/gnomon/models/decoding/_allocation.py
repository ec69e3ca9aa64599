"""Which constrained hypotheses go on: dynamic beam allocation (Post and Vilar, 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.models.decoding._phrases import PhraseStates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.models.decoding._phrases import Machines
    from gnomon.models.decoding._plan import Options
    from gnomon.models.decoding._requests import Request
    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["Allocation"]


class Allocation:
    """The constraints of the texts of a batch.

    A hypothesis is in bank b where b pieces of its constraints are met. The beam is shared out
    evenly among the banks from 0 to the number C of all pieces, what is left over going to the
    highest ones; each bank takes its best hypotheses, and places that are not taken go to the best
    of those that are left, whatever their bank. What could no longer meet its constraints within
    the limit, and what ends before they are met, is left out.

    Args:
        model: what decodes.
        machines: of the constraints of all texts.
        requests: the texts of the batch.
    """

    def __init__(self, model: Seq2Seq, machines: Machines, requests: Sequence[Request]) -> None:
        own = [machines.of(request.phrases) for request in requests]
        self._states = PhraseStates(model.continuing, own)
        self._prefixes = [request.prefix for request in requests]
        self._end = model.end

    def begin(self) -> NDArray[np.int64]:
        """The state of each text after its prefix [B]."""
        prefixes = np.array(self._prefixes, dtype=np.int64).reshape(len(self._prefixes), -1)
        texts = np.arange(len(prefixes))
        states = self._states.first.copy()
        for column in prefixes.T:
            states = self._states.after(texts, states, column)
        return states

    def wanted(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Pieces that would bring hypotheses on [..., A]; ``</s>`` where all is met; else -1."""
        pieces = self._states.wanted[states]
        met = self._states.needed[states] == 0
        pieces[..., 0] = np.where(met, self._end, pieces[..., 0])
        return pieces

    def ordered(
        self,
        texts: NDArray[np.int64],
        options: Options,
        left: NDArray[np.int64],
        beam: int,
    ) -> Options:
        """Options in the order in which the beam takes them.

        Args:
            texts: the text of each slot [S].
            options: continuations and the states before them; they may repeat.
            left: pieces that may follow, this one included, of each slot [S].
            beam: places.
        """
        ends = options.piece == self._end
        text = np.broadcast_to(texts[:, None], options.piece.shape)
        possible = np.isfinite(options.total) & ~_repeated(options)
        state = options.state.copy()
        on = possible & ~ends
        state[on] = self._states.after(text[on], state[on], options.piece[on])
        needed = self._states.needed[state]
        possible &= needed <= np.where(ends, 0, left[:, None] - 1)
        total = np.where(possible, options.total, -np.inf)
        size = self._states.size[text]
        bank = np.where(possible, size - needed, -1)
        order = _shared_out(bank, total, size, beam)
        return options._replace(total=total, state=state).take(order)


def _repeated(options: Options) -> NDArray[np.bool_]:
    """Options that stand there before."""
    key = options.parent * (int(options.piece.max(initial=0)) + 2) + options.piece
    order = np.argsort(key, axis=1, kind="stable")
    ordered = np.take_along_axis(key, order, axis=1)
    again = np.zeros(key.shape, dtype=bool)
    np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    return again


def _shared_out(
    bank: NDArray[np.int64], total: NDArray[np.float64], size: NDArray[np.int64], beam: int
) -> NDArray[np.int64]:
    """Those within the share of their bank first, each part by log-probability."""
    by_bank = np.lexsort((-total, bank), axis=1)
    ordered = np.take_along_axis(bank, by_bank, axis=1)
    places = np.broadcast_to(np.arange(bank.shape[1]), bank.shape)
    starts = np.ones_like(ordered, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    rank = np.empty_like(places)
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    np.put_along_axis(rank, by_bank, places - first, axis=1)
    banks = size + 1
    share = beam // banks + (bank >= banks - beam % banks)
    beyond = (rank >= share) | (bank < 0)
    return np.lexsort((-total, beyond), axis=1)
