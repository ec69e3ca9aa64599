"""Structures as vectors: pruned trees through an autoencoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from gnomon.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = ["Syntactic", "fit_syntactic", "read_syntactic"]


class Syntactic:
    """A space of trees."""

    def pruned(self, *_: object, **__: Any) -> Sequence[Hashable | None]:
        """The pruned tree of each sentence."""
        return fit_syntactic()


def fit_syntactic(*_: object, **__: Any) -> NoReturn:
    """Syntactic codes of sentences."""
    raise UsageError("syntactic codes are not there yet; take semantic ones")


def read_syntactic(*_: object) -> NoReturn:
    """The space of a folder."""
    fit_syntactic()
