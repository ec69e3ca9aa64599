"""What a bound metric remembers of its explanations, in memory and, if wanted, on disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Memory", "Store"]

_LIMIT = 1 << 28


class Store(Protocol):
    """Bytes by key; :class:`gnomon.cache.Cache` is one."""

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are there."""
        ...

    def put_many(self, items: Mapping[bytes, bytes]) -> None:
        """Keep some values."""
        ...


@dataclass
class Memory:
    """A store in memory, before another one.

    Masked, selected and resampled batches repeat most of the texts of the batch they come from.
    Above the limit the entries that came first go.

    Attributes:
        behind: asked for what is not here, and told what is new.
        limit_bytes: most bytes of values to hold.
    """

    behind: Store | None = None
    limit_bytes: int = _LIMIT
    _values: dict[bytes, bytes] = field(default_factory=dict)
    _bytes: int = 0

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are here or behind."""
        found = {key: self._values[key] for key in keys if key in self._values}
        missing = [key for key in keys if key not in found]
        if self.behind is None or not missing:
            return found
        more = self.behind.get_many(missing)
        self._hold(more)
        return found | more

    def put_many(self, items: Mapping[bytes, bytes]) -> None:
        """Keep some values, here and behind."""
        self._hold(items)
        if self.behind is not None:
            self.behind.put_many(items)

    def _hold(self, items: Mapping[bytes, bytes]) -> None:
        for key, value in items.items():
            self._bytes += len(value) - len(self._values.pop(key, b""))
            self._values[key] = value
        while self._bytes > self.limit_bytes:
            oldest = next(iter(self._values))
            self._bytes -= len(self._values.pop(oldest))
