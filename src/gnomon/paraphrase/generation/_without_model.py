"""Generators that need no model: outputs of other systems, and variants."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

from gnomon.core.options import InputFile, Limits, Share, Specs
from gnomon.core.signature import content_hash
from gnomon.paraphrase._constraints import read_variants, variant_paraphrases
from gnomon.paraphrase._outputs import pseudo_references
from gnomon.paraphrase.adequacy import filtered
from gnomon.paraphrase.generation._saving import MadeBatch, Making
from gnomon.paraphrase.generation.requests import (
    ABOVE_0,
    GenerationRequest,
    GeneratorOptions,
    bare_segments,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from gnomon.core.testset import Paraphrase, TestSet

    #: makes the paraphrases of the segments (from 0) of a range
    Make: TypeAlias = Callable[[range], Sequence[Paraphrase]]


@dataclass(frozen=True)
class PlainWork(Making):
    """Generation without a model."""

    make: Make
    about: Mapping[str, object] = field(default_factory=dict)  # options of the generator
    usual_size: ClassVar[int] = 500

    def settings(self) -> dict[str, object]:
        """Settings that the results depend on; not the size of batches."""
        outputs = self.testset.systems if self.method == "pseudo" else {}
        read = [*self.testset.references.items(), *outputs.items()]
        hashed = content_hash(repr([(name, list(texts)) for name, texts in read]))
        return {"method": self.method, **self.about, **self.request.settings(), "asked": hashed}

    def make_batch(self, segments: range) -> MadeBatch:
        """Make a batch of paraphrases, and filter it."""
        fitting = filtered(
            self.testset,
            self.make(segments),
            copies=not self.request.keep_copies,
            duplicates=not self.request.keep_duplicates,
            metric=self.request.filter,
            least=self.request.least,
            allow_code=self.request.allow_code,
        )
        counts = Counter(
            bare=bare_segments(self.testset, segments),
            **{name: getattr(fitting, name) for name in fitting._fields if name != "kept"},
        )
        return MadeBatch((fitting.kept,), segments.stop, counts)


@dataclass(frozen=True)
class PseudoReferences(GeneratorOptions):
    """For each system, what other systems said, where a metric likes it (n of them, 1).

    Attributes:
        quality: the metric that says which outputs are good, named first: pseudo(chrf).
        least: least score of an output, in the metric's units (greatest, for an error rate).
        share: outputs of this share of the systems alone, the best ones.
        shared: the same for all systems, and so each its own, too.
    """

    name: ClassVar[str] = "pseudo"
    positional: ClassVar[str | None] = "quality"
    reads_outputs: ClassVar[bool] = True
    takes: ClassVar[tuple[str, ...]] = ("n",)
    quality: Annotated[str, Specs()] = "chrf"
    least: float | None = None
    share: Annotated[Share, Limits(ABOVE_0, 1, words="above 0 and at most 1")] = 1.0
    shared: bool = False

    def plan(self, testset: TestSet, request: GenerationRequest) -> PlainWork:
        """Plan the work; see :func:`gnomon.paraphrase.pseudo_references`."""
        options = {
            "n": request.n or 1,
            "least": self.least,
            "share": self.share,
            "shared": self.shared,
        }

        def pool() -> Sequence[Paraphrase]:
            return pseudo_references(
                testset,
                self.quality,
                n=request.n or 1,
                least=self.least,
                share=self.share,
                shared=self.shared,
                allow_code=request.allow_code,
            )

        about = {"quality": self.quality, **options}
        return PlainWork(testset, self.name, request, _make_once(pool), about)


@dataclass(frozen=True)
class VariantPhrases(GeneratorOptions):
    """The references with one variant of a list in the place of another (U.S. / United States).

    Attributes:
        variants: the file of variants, named first: variants('list.txt'); in Python also tuples
            of variants.
    """

    name: ClassVar[str] = "variants"
    positional: ClassVar[str | None] = "variants"
    variants: Annotated[str | tuple[tuple[str, ...], ...], InputFile()]

    def plan(self, testset: TestSet, request: GenerationRequest) -> PlainWork:
        """Plan the work; see :func:`gnomon.paraphrase.variant_paraphrases`."""
        given = self.variants
        variants = read_variants(given) if isinstance(given, str) else given
        about = {"variants": content_hash(repr([list(group) for group in variants]))}
        make = _make_once(lambda: variant_paraphrases(testset, variants))
        return PlainWork(testset, self.name, request, make, about)


def _make_once(whole: Callable[[], Sequence[Paraphrase]]) -> Make:
    """A maker of parts from one that makes all."""
    by_segment: dict[int, list[Paraphrase]] = {}

    def make(part: range) -> Sequence[Paraphrase]:
        if not by_segment:
            by_segment[0] = []
            for paraphrase in whole():
                by_segment.setdefault(paraphrase.segment, []).append(paraphrase)
        return [paraphrase for i in part for paraphrase in by_segment.get(i + 1, ())]

    return make
