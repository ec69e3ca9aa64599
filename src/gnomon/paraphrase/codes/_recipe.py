"""How the autoencoder of trees is built and trained."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gnomon.errors import UsageError

__all__ = ["TreeRecipe"]


@dataclass(frozen=True)
class TreeRecipe:
    """Options of a TreeLSTM autoencoder; the defaults are those of Bawden et al. (2020).

    Attributes:
        depth: levels that a pruned tree keeps, its root being the first.
        most_children: of a node; further ones are dropped.
        hidden: numbers in a vector.
        embedding: numbers in the vector of a label.
        iterations: times that the training sees every tree.
        batch: trees at once.
        rate: learning rate of Adagrad.
        decay: its weight decay.

    Raises:
        UsageError: a number is not positive.
    """

    depth: int = 4
    most_children: int = 10
    hidden: int = 256
    embedding: int = 256
    iterations: int = 20
    batch: int = 400
    rate: float = 0.025
    decay: float = 1e-4

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (value > 0 or (value == 0 and field.name == "decay")):
                raise UsageError(f"{field.name} of a tree recipe is a positive number; got {value}")
