"""Input times gradient under learned metrics: contributions of the pieces of both texts.

As :mod:`gnomon.models.gradients` for metrics on one layer; here the gradient runs through the mix
of all layers, the pooling and the head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gnomon.learned.matching import piece_places
from gnomon.learned.metric import Triple, input_rows, triples_of
from gnomon.metrics.differentiable import Attributions, TokenValues
from gnomon.models import input_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.learned.encoder import MetricEncoder, States
    from gnomon.learned.metric import BoundLearned

__all__ = ["Products", "attributions", "input_products"]

#: for the pieces of a candidate and of the text beside it, special ones at both ends included
Products: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64]]"

#: inputs whose graph is in memory at a time
_AT_ONCE = 16


def input_products(
    encoder: MetricEncoder,
    sequences: Sequence[NDArray[np.int32]],
    read: Callable[[States], Any],
    total: Callable[[Sequence[Any]], Any],
) -> tuple[list[float], list[NDArray[np.float64]]]:
    """The product of each id's input embedding with the gradient of a sum of scores in it.

    ``sequences``: int32 ids; one that occurs twice is encoded twice. ``total``: from these rows, in
    the order of the sequences, to scores, tensor [P]. Returns the scores, and for each sequence the
    products, float64 [n].
    """
    import torch

    rows: list[Any] = [None] * len(sequences)
    groups: list[NDArray[np.int64]] = []
    with torch.enable_grad(), input_leaves(encoder.model) as leaves:
        for group, ids, kept in encoder.padded(sequences):
            groups.append(group)
            states = read(encoder.forward(ids, kept))
            for number, row in zip(group.tolist(), states, strict=True):
                rows[number] = row
        scores = total(rows)
        scores.sum().backward()
    products = [np.zeros(len(ids)) for ids in sequences]
    for group, leaf in zip(groups, leaves, strict=True):
        if leaf.grad is None:
            continue
        values = (leaf.detach() * leaf.grad).sum(dim=-1).double().cpu().numpy()
        for number, row in zip(group.tolist(), values, strict=True):
            products[number] = row[: len(sequences[number])]
    return scores.detach().double().cpu().tolist(), products


def attributions(
    bound: BoundLearned,
    batch: Batch,
    differentiate: Callable[[Sequence[Triple]], tuple[list[float], list[Products]]],
) -> Attributions:
    """Attributions to the pieces of candidates and of references (or sources, without any)."""
    rows = input_rows(batch, bound.needs)
    other = 2 if "references" in bound.needs else 1
    scores: list[float] = []
    sides: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])
    for at in range(0, len(rows.texts), _AT_ONCE):
        scored, products = differentiate(triples_of(batch, rows.texts[at : at + _AT_ONCE]))
        scores += scored
        for candidate, beside in products:
            sides[0].append(candidate)
            sides[1].append(beside)
    return Attributions(
        shape=rows.shape,
        cell=rows.cell,
        score=np.array(scores),
        candidate=_token_values(bound, batch, rows.texts[:, 0], sides[0]),
        other=_token_values(bound, batch, rows.texts[:, other], sides[1]),
    )


def _token_values(
    bound: BoundLearned,
    batch: Batch,
    texts: NDArray[np.int64],
    values: Sequence[NDArray[np.float64]],
) -> TokenValues:
    """Values of the pieces of some texts, with their places."""
    distinct = np.unique(texts).tolist()
    pieces = bound.model.encoder.pieces([batch.texts[number] for number in distinct])
    places = {
        number: piece_places(batch.texts[number], text_pieces, len(text_pieces.ids) + 2)
        for number, text_pieces in zip(distinct, pieces, strict=True)
    }
    sizes = np.array([len(products) for products in values], dtype=np.int64)
    starts = [
        places[text][: len(products), 0]
        for text, products in zip(texts.tolist(), values, strict=True)
    ]
    special = np.zeros(int(sizes.sum()), dtype=np.bool_)
    ends = np.cumsum(sizes)
    special[ends - sizes] = special[ends - 1] = True
    return TokenValues(
        offsets=np.concatenate([[0], ends]),
        start=np.concatenate([np.zeros(0, np.int32), *starts]).astype(np.int32),
        special=special,
        value=np.concatenate([np.zeros(0), *values]),
    )
