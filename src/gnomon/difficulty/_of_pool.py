"""What bound metrics with frozen difficulties say of themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from gnomon.difficulty._parts import pool_notices
from gnomon.metrics.means import OfOptions
from gnomon.metrics.protocol import Informed, Noticing

if TYPE_CHECKING:
    from gnomon.batch import Batch
    from gnomon.difficulty._pools import Pool
    from gnomon.difficulty.metric import Difficulty
    from gnomon.metrics.protocol import BoundMetric
    from gnomon.signature import Signature

__all__ = ["Measured", "OfPool"]


class Measured(Protocol):
    """Difficulties: what they say of the pool that measured them."""

    @property
    def pool(self) -> str:
        """What chose it, for signatures."""
        ...

    @property
    def human(self) -> tuple[str, ...]:
        """Kinds of human scores that chose it, where it came from a file."""
        ...


class OfPool(OfOptions):
    """A metric whose words weigh what a pool of systems says.

    Attributes:
        metric: the options.
        base: the wrapped metric, bound.
        hardness: how hard each word was.
        pool: the systems that said so; None where difficulties came from a file.
    """

    metric: Difficulty
    base: BoundMetric
    hardness: Measured
    pool: Pool | None

    @property
    def signature(self) -> Signature:
        """Spec, fields of the wrapped metric, and the pool with a hash of its outputs."""
        own = replace(self.base.signature, spec=self.metric.spec)
        how = {} if self.pool is None else {"chosen": self.pool.how}
        return own.adding({"pool": self.hardness.pool, **how})

    @property
    def by_system(self) -> bool:
        """Whether a system's words are weighed by the others alone."""
        return self.metric.leave_one_out

    @property
    def informed_by(self) -> tuple[str, ...]:
        """The kind of human scores that chose the pool, if any did."""
        inner = self.base.informed_by if isinstance(self.base, Informed) else ()
        own = [self.pool.human] if self.pool and self.pool.human else []
        return (*inner, *own, *self.hardness.human)

    def notices(self, batch: Batch) -> tuple[str, ...]:
        """What the wrapped metric says, and what a reader should know of the pool."""
        inner = self.base.notices(batch) if isinstance(self.base, Noticing) else ()
        return (*inner, *pool_notices(self.metric.spec, self.pool))
