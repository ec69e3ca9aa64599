"""What is asked of a model that paraphrases."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.errors import UnknownNameError, UsageError

__all__ = ["CODED", "METHODS", "GenerationOptions"]

_SEARCHED = ("beam", "length_penalty", "limit")
#: method -> the options that it reads
METHODS = {
    "beam": _SEARCHED,
    "diverse": ("beam", "groups", "strength", "length_penalty", "limit"),
    "sampled": ("seed", "top_p", "temperature", "limit"),
    "codes": _SEARCHED,
    "random-codes": (*_SEARCHED, "seed"),
    "output-codes": _SEARCHED,
    "constrained": (*_SEARCHED, "together"),
    "round-trip": _SEARCHED,
}
#: methods that begin every paraphrase with a code
CODED = ("codes", "random-codes", "output-codes")
_ONE = ("output-codes", "constrained", "round-trip")
_KEPT = ("keep_copies", "keep_duplicates", "metric", "least")


@dataclass(frozen=True, kw_only=True)
class GenerationOptions:
    """How paraphrases are made, and which ones are kept.

    Attributes:
        method: one of :data:`METHODS`.
        n: paraphrases per segment (of each constraint under "constrained", for each system under
            "output-codes"); by default 5, and 1 for these two and for "round-trip".
        beam: hypotheses that the search keeps; by default 20, under codes 6.
        length_penalty: log probabilities are divided by the length to this power.
        limit: most pieces of a paraphrase; by default what the model takes.
        seed: of what is drawn.
        top_p: "sampled" draws from the fewest pieces with this share of the probability.
        temperature: of "sampled"; above 1, draws are more varied, below, more alike.
        groups: "diverse" searches in so many groups, ...
        strength: ... and takes this from a piece for each earlier group that has it.
        together: all constraints of a segment in one paraphrase, not one for each.
        keep_copies: also of a reference.
        keep_duplicates: also repetitions within a segment.
        metric: judges them against the references, with ``least``.
        least: least score that is kept, in the metric's units (greatest, for an error rate).
    """

    method: str = "beam"
    n: int | None = None
    beam: int | None = None
    length_penalty: float = 1.0
    limit: int | None = None
    seed: int = 0
    top_p: float = 0.8
    temperature: float = 1.0
    groups: int = 5
    strength: float = 0.5
    together: bool = False
    keep_copies: bool = False
    keep_duplicates: bool = False
    metric: str | None = None
    least: float | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            UnknownNameError: there is no such method.
            UsageError: a number is out of its range.
        """
        if self.method not in METHODS:
            raise UnknownNameError("method of generation", self.method, METHODS)
        for name in ("n", "beam", "limit", "groups"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1; got {value}")
        if self.seed < 0:
            raise UsageError(f"the seed must not be negative; got {self.seed}")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"the share of probability (top-p) lies in (0, 1]; got {self.top_p:g}")
        if self.temperature <= 0 or self.strength < 0 or self.length_penalty < 0:
            raise UsageError(
                "temperature must be above 0, strength and length penalty not below 0; got"
                f" {self.temperature:g}, {self.strength:g}, {self.length_penalty:g}"
            )
        if self.method == "diverse" and self.width % self.groups:
            raise UsageError(
                f"a beam of {self.width} cannot be split into {self.groups} equal groups; give a"
                " multiple of the groups"
            )
        if (self.metric is None) is not (self.least is None):
            raise UsageError(
                "a filter needs both a metric and the least score that it lets through"
            )

    @property
    def wanted(self) -> int:
        """Paraphrases asked for; see ``n``."""
        return self.n or (1 if self.method in _ONE else 5)

    @property
    def width(self) -> int:
        """Hypotheses that the search keeps: at least as many as are wanted of one search."""
        width = self.beam or (6 if self.method in CODED else 20)
        several = self.method not in ("codes", "random-codes")
        least = max(width, self.wanted) if several else width
        if self.method == "diverse" and self.beam is None:
            least += -least % self.groups
        return least

    def settings(self) -> dict[str, object]:
        """What results depend on: the options that the method reads."""
        used = {name: getattr(self, name) for name in METHODS[self.method]}
        if "beam" in used:
            used["beam"] = self.width
        kept = {name: getattr(self, name) for name in _KEPT}
        return {"method": self.method, "n": self.wanted, **used, **kept}
