"""``difficulty(METRIC)``: a metric whose words are weighed by their difficulty for a pool."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

from gnomon.core.errors import GnomonError, SpecError, UsageError
from gnomon.core.options import InputFile, Reaches, Specs
from gnomon.difficulty.frozen import check_there
from gnomon.difficulty.pools import check_choice, check_pool, choose_pool
from gnomon.metrics import Options, parse, resolve
from gnomon.metrics.base import Metric
from gnomon.metrics.registry import check_metric
from gnomon.metrics.requirements import needs_of_options, requirements

if TYPE_CHECKING:
    from gnomon.core.dependencies import Dependency
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet
    from gnomon.difficulty.matched import BoundAlignedDifficulty, BoundDifficulty
    from gnomon.difficulty.ngrams import BoundNgramDifficulty
    from gnomon.difficulty.segments import BoundSegmentDifficulty
    from gnomon.metrics.base import BoundMetric, Input

__all__ = ["Difficulty"]

_AUTHORS_ONLY = ("ref_diff", "softmax_norm", "max_norm", "range_one")


@dataclass(frozen=True)
class Difficulty(Options, Metric):
    """Difficulty-aware scoring: words weigh as much as they were hard for a pool of systems.

    For metrics that match tokens (``bertscore``, ``xbertscore``), with sim the similarity and K
    systems in the pool: d(t) = 1 - mean over the pool of the best similarity of reference token
    t; DA-R = mean over the reference of d(t) times t's best similarity; DA-P likewise over the
    candidate, where d(h) is the mean difficulty of the same token type in the reference, 1 if the
    reference lacks it; DA-F their harmonic mean. The system score is the F of the means of DA-P
    and DA-R over segments. Zhan et al. (2021), "Difficulty-Aware Machine Translation Evaluation",
    eq. 1-6.

    For metrics that count n-grams (``bleu``, ``chrf``, ``rouge1``, ``rouge2``): d(g) = 1 - share of
    the pool that has reference n-gram g; precision = sum of d(g) times clipped count over sum of
    d(g) times count, where n-grams that the reference lacks weigh 1; recall likewise.

    For metrics that align words (``ter``, ``rougeL``, ``meteor``): d(t) = 1 - mean worth of t's
    match in the pool; the metric's own formula, of shares of the weight in place of shares of the
    words. For any other metric whole segments: d_i = share of the segments on which the pool
    scored higher; corpus scores weigh segments by it.

    With several references the one with the best DA-F counts. An empty text scores 0.

    Attributes:
        metric: the metric whose words are weighed.
        pool: "all", "top:6", "top:30%" (of the systems, rounded down) or a list of systems.
        by: what ranks systems for "top": a kind of human scores, by default the only one there is,
            or a metric such as "bleu".
        frozen: file of difficulties saved before (``gnomon difficulty score --save``), used in
            place of a pool.
        leave_one_out: the words of a system are weighed by the others of the pool.
        beta: weight of recall in F.
        smooth: pull difficulties to the mean of their reference: 0 not at all, 1 all the way.
        special: whether the tokens that begin and end a text may be matched ("match") or not
            ("exclude"); holds for the wrapped metric too, whatever that says.
        rescale: similarities are rescaled: by the wrapped metric's own baseline where it rescales,
            else by one estimated from shuffled references, as far as the metric can. "estimate":
            by an estimated one in any case. Without it the metric decides.
        units: what is weighed: None for the metric's own units (tokens, n-grams, aligned words),
            and segments where it has none; "segments" for whole segments, with any metric.
        variant: "authors" for the published code: similarities rescaled by a published baseline
            unless the metric says how, special tokens matched, and repeated types by a running
            average, (w + next) / 2.
        ref_diff: the authors' option: tokens that the reference lacks weigh as their best match.
        softmax_norm: the authors' option: weights of a text go through a softmax.
        max_norm: the authors' option: weights of a text are divided by the largest.
        range_one: the authors' option: weighted means (divided by the sum of the weights).
        weighted: False: the wrapped metric without weights, aggregated as the weighted one is
            (special tokens, rescaling, F of means), so that only the weights differ.

    Raises:
        SpecError: an option has a value that it cannot have.
        UsageError: the pool is of no known form.
    """

    name: ClassVar[str] = "difficulty"
    title: ClassVar[str] = "difficulty-weighted {}"
    titles = MappingProxyType({"weighted=False": "unweighted {}"})
    positional: ClassVar[str | None] = "metric"
    pooled: ClassVar[bool] = True

    metric: Annotated[Metric, Specs()]
    pool: str | tuple[str, ...] = "all"
    by: Annotated[
        str | None, Reaches(of_text="gnomon.metrics.registry:reaches_of_kind_or_spec")
    ] = None
    frozen: Annotated[str | None, InputFile()] = None
    leave_one_out: bool = False
    beta: float = 1.0
    smooth: float = 0.0
    special: Literal["match", "exclude"] = "exclude"
    rescale: bool | Literal["estimate"] = True
    units: Literal["segments"] | None = None
    variant: Literal["authors"] | None = None
    ref_diff: bool = False
    softmax_norm: bool = False
    max_norm: bool = False
    range_one: bool = False
    weighted: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "metric", resolve(self.metric))
        check_pool(self.pool)
        if not 0 < self.beta < float("inf"):
            raise SpecError(f"difficulty: beta is {self.beta}; it must be above 0 and finite")
        if not 0 <= self.smooth <= 1:
            raise SpecError(f"difficulty: smooth is {self.smooth}; it must lie between 0 and 1")
        given = [name for name in _AUTHORS_ONLY if getattr(self, name)]
        if given and self.variant is None:
            raise SpecError(
                f"difficulty: {', '.join(given)} are options of the published code; add"
                " variant='authors'"
            )
        if self.frozen and (self.pool != "all" or self.by or self.leave_one_out):
            raise SpecError(
                "difficulty: frozen difficulties bring their pool with them; leave out the"
                " pool, what ranks it, and leaving systems out of it"
            )
        if not self.weighted and (self.pool != "all" or self.frozen or self.leave_one_out):
            raise SpecError(
                "difficulty: without weights no words are hard; leave out the pool, frozen"
                " difficulties, and leaving systems out of it"
            )
        if self.by and not str(self.pool).startswith("top:"):
            raise SpecError(
                "difficulty: what ranks systems (by) is for a pool 'top:...', which is not given"
            )

    @property
    def needs(self) -> frozenset[Input]:
        """Inputs that the wrapped metric needs."""
        return self.metric.needs

    @property
    def higher_is_better(self) -> bool:
        """As of the wrapped metric."""
        return self.metric.higher_is_better

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """Dependencies of the wrapped metric, and of the metric that ranks systems, if one does."""
        needs = needs_of_options(self, language)
        if self.by is None:
            return needs
        with suppress(GnomonError):  # a kind of human scores
            return (*needs, *requirements(parse(self.by), language))
        return needs

    def bind(self, testset: TestSet) -> BoundMetric:
        """Freeze how hard every unit was, see :meth:`weigh`; without weights, just bind.

        Raises:
            GnomonError: as :meth:`weigh`.
        """
        if self.weighted:
            return cast("BoundMetric", self.weigh(testset))
        from gnomon.difficulty.matched import UnweightedMatches

        bound = self._bind_wrapped(testset)
        by_match = self.units is None and "match" in bound.can
        return UnweightedMatches(self, bound) if by_match else bound

    def weigh(
        self, testset: TestSet
    ) -> BoundDifficulty | BoundAlignedDifficulty | BoundNgramDifficulty | BoundSegmentDifficulty:
        """Choose the pool and freeze how hard every unit was for it.

        Raises:
            UsageError: the metric holds difficulties already, has not what is to be weighed, or
                the pool cannot be.
            UnknownNameError: the pool names a system that is not there.
            DataError: the test set lacks what the metric needs, or the frozen difficulties are of
                other references.
            GnomonError: whatever binding the wrapped metric raises.
        """
        from gnomon.difficulty.matched import bind_aligned, bind_matched
        from gnomon.difficulty.ngrams import bind_ngrams
        from gnomon.difficulty.segments import bind_segments

        self.check_metric(testset.outline)
        bound = self._bind_wrapped(testset)
        pool = None if self.frozen else choose_pool(testset, self.pool, self.by)
        if pool is not None and self.leave_one_out and len(pool.systems) == 1:
            raise UsageError(_no_other(pool.systems[0]))
        if self.units is None and "match" in bound.can:
            return bind_matched(self, bound, testset, pool)
        if self.units is None and "ngrams" in bound.can:
            return bind_ngrams(self, bound, testset, pool)
        if self.units is None and "align" in bound.can:
            return bind_aligned(self, bound, testset, pool)
        return bind_segments(self, bound, testset, pool)

    def check_metric(self, outline: Outline | None) -> None:
        """Refuse a metric that cannot be weighed, before it is bound.

        Raises:
            UsageError: likewise.
            GnomonError: whatever the metric refuses of the test set.
        """
        check_metric(self.metric, outline)
        inner: object = self.metric
        while inner is not None:
            if isinstance(inner, Difficulty):
                raise UsageError(
                    f"difficulty cannot weigh {self.metric.spec!r}, which is weighed already: what"
                    " weighing makes of a word is small where it was missed and where it was easy,"
                    " so that a low score does not say that something was hard; weigh the metric"
                    f" inside, difficulty({inner.metric.spec})"
                )
            inner = getattr(inner, "metric", None)

    @property
    def weighs_words(self) -> bool:
        """True if words or tokens are weighed, as far as can be told before binding."""
        return self.units is None and bool(self.metric.can & {"match", "ngrams", "align"})

    @property
    def can(self) -> frozenset[str]:
        """Mask words, where those of matches or of n-grams are weighed."""
        units = self.metric.can if self.units is None else frozenset[str]()
        if not self.weighted and "match" not in units:
            return self.metric.can
        masks = self.weighted and not units.isdisjoint(("match", "ngrams"))
        return frozenset(("statistics", *(("mask",) if masks else ())))

    def check_pool(self, outline: Outline) -> None:
        """Refuse a pool that cannot be chosen.

        Raises:
            UsageError, UnknownNameError, DataError, MissingFileError: as :meth:`bind`.
        """
        if self.frozen:
            check_there(self.frozen)
            return
        most = check_choice(outline, self.pool, self.by)
        if self.leave_one_out and most == 1:
            raise UsageError(_no_other(outline.systems[0]))

    def check_outline(self, outline: Outline | None) -> None:
        """Refuse a test set, before any work; errors as for :meth:`bind`."""
        self.check_metric(outline)
        if outline is not None:
            self.check_pool(outline)

    def will_see(self, outline: Outline) -> tuple[str, ...]:
        """The kind of human scores that will choose the pool, if any will."""
        kinds = outline.human_kinds("system")
        by = self.by or (kinds[0] if len(kinds) == 1 else None)
        ranks_by_people = str(self.pool).startswith("top:") and not self.frozen and by in kinds
        return (
            *self.metric.will_see(outline),
            *([by] if ranks_by_people and by is not None else []),
        )

    def _bind_wrapped(self, testset: TestSet) -> BoundMetric:
        """The wrapped metric, with special tokens and rescaling as here."""
        options = {f.name for f in fields(self.metric)} if isinstance(self.metric, Options) else {}
        changed: dict[str, Any] = {}
        if "special" in options:
            changed["special"] = "match" if self.variant else self.special
        if "rescale" in options and self.rescale == "estimate":
            changed["rescale"] = "estimate"
        elif "rescale" in options and not getattr(self.metric, "rescale", True):
            if self.variant:
                changed["rescale"] = True
            elif self.rescale and can_estimate(self.metric, testset):
                changed["rescale"] = "estimate"
        metric = replace(self.metric, **changed) if changed else self.metric  # type: ignore[type-var]  # options are dataclasses
        bound: BoundMetric = metric.bind(testset)
        return bound


def can_estimate(metric: Metric, testset: TestSet) -> bool:
    """True if a metric on embeddings finds unrelated sentences in a test set."""
    texts = {text for column in testset.references.values() for text in column if text}
    return len(texts) > 1 and ("sources" not in metric.needs or testset.sources is not None)


def _no_other(system: str) -> str:
    return (
        f"difficulty: leaving one out leaves no system to judge {system!r}; take a"
        " pool of two systems or more"
    )
