"""A model as what makes paraphrases for half-splits of the systems."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gnomon.errors import UsageError
from gnomon.paraphrase.generation._generate import plan
from gnomon.paraphrase.generation._models import load_models
from gnomon.paraphrase.generation._options import GenerationOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.models import Precision, Seq2Seq
    from gnomon.paraphrase._constraints import Constraint
    from gnomon.testset import Paraphrase, TestSet

__all__ = ["ConstrainedBy"]

_CONSTRAINED = GenerationOptions(method="constrained")


@dataclass(eq=False)
class ConstrainedBy:
    """Paraphrases that hold constraints, by a model; for :func:`half_splits`.

    What was asked in one split is not searched again in another one of the same test set.

    Attributes:
        model: a folder, a name, or a loaded model.
        options: of the method "constrained", one paraphrase per constraint.
        device: see :func:`gnomon.models.load_seq2seq`.
        precision: likewise.
        unreachable: constraints that no paraphrase holds, each counted once.
        searched: constraints searched for so far.
    """

    model: str | Seq2Seq
    options: GenerationOptions = _CONSTRAINED
    device: str | None = None
    precision: Precision = "fp32"
    unreachable: int = 0
    searched: int = 0
    _known: dict[tuple[str, ...], tuple[Paraphrase, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse other methods.

        Raises:
            UsageError: the method is not "constrained", or all constraints go together.
        """
        if self.options.method != "constrained" or self.options.together:
            raise UsageError("half-splits need the method constrained, with one constraint each")

    @property
    def identity(self) -> str:
        """Of the model, with the width of the search."""
        return f"{self._loaded().identity}, beam {self.options.width}"

    def notices(self) -> tuple[str, ...]:
        """What a user should know about the searches so far."""
        said = (
            f"the model was asked for {self.searched} constraints, each once;"
            f" {self.unreachable} were not reached"
        )
        return (said, *self._loaded().notices)

    def _loaded(self) -> Seq2Seq:
        return load_models(self.model, device=self.device, precision=self.precision).model

    def __call__(self, testset: TestSet, asked: Sequence[Constraint]) -> tuple[Paraphrase, ...]:
        """One paraphrase, or n, for each constraint; none where it cannot be reached."""
        keys = [_key(testset, one) for one in asked]
        new = {key: one for key, one in zip(keys, asked, strict=True) if key not in self._known}
        if new:
            self._search(testset, new)
        made = (one for key in keys for one in self._known[key])
        return tuple(dict.fromkeys(made))

    def _search(self, testset: TestSet, new: dict[tuple[str, ...], Constraint]) -> None:
        ordered = sorted(new.items(), key=lambda pair: pair[1].segment)
        work = plan(
            testset,
            self.model,
            # what one constraint brings does not depend on those asked beside it
            replace(self.options, keep_duplicates=True),
            constraints=[one for _, one in ordered],
            device=self.device,
            precision=self.precision,
        )
        batches = list(work.batches())
        self.unreachable += sum(batch.counts["unreachable"] for batch in batches)
        self.searched += len(new)
        keys = [key for key, one in ordered if work.groups[one.segment - 1]]
        self._known.update(dict.fromkeys(new, ()))
        self._known.update(
            zip(keys, (made for batch in batches for made in batch.groups), strict=True)
        )


def _key(testset: TestSet, one: Constraint) -> tuple[str, ...]:
    references = (column[one.segment - 1] or "" for column in testset.references.values())
    return (str(one.segment), one.text, *references)
