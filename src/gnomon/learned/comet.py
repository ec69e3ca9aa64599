"""COMET: a feed-forward head on the vectors of source, candidate and reference.

Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation"; Rei et al. (2022), "COMET-22".
``ReferencelessRegression`` looks at source and candidate (Rei et al., 2021); a sentinel at one text
alone (Perrella et al., 2024), to tell what can be guessed without a comparison. Equal to
unbabel-comet 2.2.7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.learned.gradients import attributions, input_products
from gnomon.learned.heads import FeedForward, LayerMix, compared, pooled
from gnomon.learned.matching import PooledPieces
from gnomon.learned.metric import BoundLearned, LearnedOptions, Triple, input_rows
from gnomon.learned.pooling import POOLS, PieceMasks, ReplacementWords, StatesOfTexts
from gnomon.messages import message
from gnomon.metrics.baselines import estimate_baseline
from gnomon.metrics.comparisons import pair_rows
from gnomon.metrics.embeddings import Matcher, first_references, unit_weights
from gnomon.metrics.sequences import TokenMasks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.learned.encoder import Remembered, States
    from gnomon.learned.gradients import Products
    from gnomon.messages import Message
    from gnomon.metrics.base import Input
    from gnomon.metrics.differentiable import Attributions
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.matching import Matches

__all__ = ["BoundComet", "BoundMaskingComet", "BoundMatchingComet", "Comet"]

#: rows that go through the head at a time
_ROWS = 4096
#: inputs whose candidates are masked at a time
_MASKED = 1024


@dataclass(frozen=True)
class Comet(LearnedOptions):
    """COMET: a regression on the vectors of source, candidate and reference, encoded apart.

    For checkpoints of the classes ``RegressionMetric`` (COMET-22, cometinho),
    ``ReferencelessRegression`` (which needs no reference) and sentinel metrics (which look at one
    text). With several references the score is the mean over them. The system score is the mean
    over segments. Each distinct text is encoded once, whatever its role and system.
    """

    name: ClassVar[str] = "comet"
    title: ClassVar[str] = "COMET"
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "mask", "match", "gradients"))
    masks: ClassVar[frozenset[str]] = frozenset(("", "pooled"))  # its model decides

    @property
    def needs(self) -> frozenset[Input]:
        """Sources and references, sources alone, or what a sentinel looks at."""
        model = self.learned
        looked_at = model.settings.get("sent_to_use")  # by a sentinel, or beside the candidate
        return frozenset(("references", "sources")) if looked_at is None else _NEEDS[looked_at]

    def bind(self, testset: TestSet) -> BoundComet | BoundMatchingComet | BoundMaskingComet:
        """Load the model."""
        model, learnt = self.loaded(testset), self.learned.learnt_from(testset)
        bound = BoundComet(self, model, learnt)
        if not {0, 2} <= set(bound.roles):  # it does not compare outputs with references
            return bound
        # a head that does not look at all positions has nothing to mask
        pools = model.model.settings.get("pool") in POOLS
        kind = BoundMaskingComet if pools else BoundMatchingComet
        references = (text for text in first_references(testset) if text is not None)
        return kind(self, model, learnt, tuple(references))


_NEEDS: dict[str, frozenset[Input]] = {
    "src": frozenset(("sources",)),
    "mt": frozenset(),
    "ref": frozenset(("references",)),
}
_ROLES = {"mt": 0, "src": 1, "ref": 2}


@dataclass(frozen=True, eq=False)
class BoundComet(BoundLearned):
    """COMET, ready to score; vectors of the texts seen last stay in memory."""

    # kinds of human scores of the test set that the model was trained on
    informed_by: tuple[str, ...] = ()

    def score_triples(self, triples: Sequence[Triple]) -> NDArray[np.float64]:
        """Scores of some inputs, float64 [P, 1]."""
        import torch

        roles = self.roles
        texts = list(dict.fromkeys(triple[role] or "" for triple in triples for role in roles))
        row_of = {text: number for number, text in enumerate(texts)}
        vectors = torch.from_numpy(np.concatenate(self.vectors.look_up(texts)))
        scores = []
        for at in range(0, len(triples), _ROWS):
            some = triples[at : at + _ROWS]
            sides = [
                vectors[[row_of[triple[role] or ""] for triple in some]].to(
                    self.model.encoder.device
                )
                for role in roles
            ]
            with torch.inference_mode():
                scores.append(self.head(self.features(*sides)).double().cpu().numpy())
        return np.concatenate(scores)[:, None]

    def attributions(self, batch: Batch) -> Attributions:
        """Input times gradient of every piece of candidates and references (or sources)."""
        if len(self.roles) == 1:
            raise UsageError(
                f"{self.metric.spec} looks at one text alone, so that there is no comparison to"
                " explain by gradients"
            )
        return attributions(self, batch, self._differentiate)

    def _differentiate(self, inputs: Sequence[Triple]) -> tuple[list[float], list[Products]]:
        """Scores of some inputs, and the products of the pieces of candidates and others."""
        import torch

        encoder, other = self.model.encoder, self.roles[-1]
        fixed = [role for role in self.roles if role not in (0, other)]
        constant = [
            torch.from_numpy(
                np.concatenate(self.vectors.look_up([triple[role] or "" for triple in inputs]))
            )
            for role in fixed
        ]
        texts = [triple[role] or "" for triple in inputs for role in (0, other)]
        sequences = [encoder.alone(pieces.ids, self.limit) for pieces in encoder.pieces(texts)]

        def total(vectors: Sequence[Any]) -> Any:
            sides = [torch.stack(list(vectors[::2])), torch.stack(list(vectors[1::2]))]
            sides[1:1] = [vectors_of_role.to(encoder.device) for vectors_of_role in constant]
            return self.head(self.features(*sides))

        scores, products = input_products(encoder, sequences, self.pool, total)
        return scores, list(zip(products[::2], products[1::2], strict=True))

    def cut_texts(self, triples: Sequence[Triple]) -> tuple[int, int]:
        """Numbers of the distinct texts that are cut, and of all."""
        texts = list(dict.fromkeys(triple[role] or "" for triple in triples for role in self.roles))
        lengths = [len(pieces.ids) for pieces in self.model.encoder.pieces(texts)]
        return sum(length > self.limit - 2 for length in lengths), len(texts)

    def features(self, *sides: Any) -> Any:
        """Inputs of the head, tensor [P, inputs].

        ``sides``: the vectors of the texts by :attr:`roles`, tensors [P, d].
        """
        return compared(*sides)

    @cached_property
    def roles(self) -> tuple[int, ...]:
        """Positions in a triple of the texts that the model looks at."""
        model = self.model.model
        if model.kind == "sentinel_regression_metric":
            return (_ROLES[model.settings["sent_to_use"]],)
        if model.kind == "referenceless_regression_metric":
            return (0, _ROLES[model.settings["sent_to_use"]])
        return (0, 1, 2)

    @property
    def limit(self) -> int:
        """Most ids of a text, special ones included."""
        encoder = self.model.encoder
        return encoder.positions if len(self.roles) == 1 else encoder.limit

    @cached_property
    def head(self) -> FeedForward:
        """From features to scores."""
        return FeedForward.from_head(self.model.head, self.model.model.settings, "estimator.ff")

    @cached_property
    def vectors(self) -> Remembered[str]:
        """The vector of each text, [1, d]."""
        columns = self.model.encoder.dimensions
        return self.remembered("texts", "text", columns, self._sequences, self._pool_rows)

    def _sequences(self, texts: Sequence[str]) -> list[tuple[NDArray[np.int32], int]]:
        encoder = self.model.encoder
        return [(encoder.alone(pieces.ids, self.limit), 1) for pieces in encoder.pieces(texts)]

    def _pool_rows(self, states: States, _rows: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        vectors: NDArray[np.float32] = self.pool(states).cpu().numpy()
        return [vector[None] for vector in vectors]

    def pool(self, states: States) -> Any:
        """One vector for each text, tensor [B, d]."""
        if len(self.roles) == 1:
            return states.layers[-1][:, 0]
        how = str(self.model.model.settings["pool"])
        return pooled(self.mix(states), states.kept, how)

    @cached_property
    def mix(self) -> LayerMix:
        """The state that is pooled."""
        mix = LayerMix.from_metric(self.model, "layer")
        # "default" is what the encoder itself takes for a sentence's vector, whatever the mix
        return replace(mix, layer=-1) if self.model.model.settings["pool"] == "default" else mix


@dataclass(frozen=True, eq=False)
class BoundMatchingComet(BoundComet):
    """COMET that compares the states of pieces too, those that it pools."""

    # the first one of each segment of the test set; what unrelated texts have in common is
    # estimated from them
    references: tuple[str, ...] = ()

    def matches(self, batch: Batch, plan: MaskPlan | None = None) -> Iterator[Matches]:
        """Best matches of all pieces, as they are or under every variant of a plan.

        Similarities are cosines of the states that are pooled. The floor is that of shuffled
        references, where there are two different ones.
        """
        rows = pair_rows(batch)
        if plan is None:
            yield replace(self._matcher.matches(batch, rows), floor=self._floor)
            return
        for matches in self._matcher.variants(batch, rows, plan):
            yield replace(matches, floor=self._floor)

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self._pieces, unit_weights, "exclude")

    @cached_property
    def _pieces(self) -> PooledPieces:
        identity, memory = self.model.model.folder.identity, self.model.memory
        return PooledPieces(self.model.encoder, self.mix, self.limit, identity, memory)

    @cached_property
    def _floor(self) -> float:
        sides = [(text, text) for text in self.references]
        if len({text for text in self.references if text.strip()}) < 2:
            return 0.0
        return estimate_baseline(self._matcher, sides).f


@dataclass(frozen=True, eq=False)
class BoundMaskingComet(BoundMatchingComet):
    """COMET that pools candidates with words masked; nothing is encoded for a mask."""

    masks_used: ClassVar[str] = "pooled"

    def mask_notices(self) -> tuple[Message, ...]:
        """That words have to be left out where there is no other reference to take some from."""
        if len(set(self.references)) > 1:
            return ()
        return (message("note.learned.no_words").about(metrics=[self.name]),)

    def look_up_parts(self, triples: Sequence[Triple]) -> NDArray[np.float64]:
        """As of all learned metrics; beside masked scores, of the same states as these."""
        return (
            self.score_triples(triples)
            if "states" in self.model.memory
            else super().look_up_parts(triples)
        )

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> None:  # noqa: ARG002  # vectors have no length
        """Vectors have no length; masks will follow, and states of pieces are kept for them."""
        self._states(batch)

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence scores of every variant, float64 [V, K, N].

        States stay those of the unmasked texts, and so do the vectors of sources and references. In
        the candidate's vector, words that are masked alike are those of the reference: what both
        have stays, and the candidate's other words give way to the reference's. Words that are
        masked differently have the mean state of words of another segment's reference that are
        masked so, too; the score is the mean over a few of these references
        (:class:`gnomon.learned.pooling.ReplacementWords`), the same for all systems. They
        are drawn among the first references of the test set that the metric was bound to, as far
        as the batch has their texts, and of the batch's own segments. Where no other reference has
        such words (as with a single segment), the candidate's are left out.
        """
        states = self._states(batch)
        masks = TokenMasks.locate(states.table, plan)
        rows = input_rows(batch, self.needs)
        donors = ReplacementWords.order_references(batch, self._donor_texts(batch))
        # equal texts of two segments are one row only where both draw the same words
        segment = donors.segments[rows.cell % max(rows.shape[1], 1)]
        distinct, back = np.unique(
            np.column_stack([rows.texts, segment]), axis=0, return_inverse=True
        )
        distinct, segment = distinct[:, :3], distinct[:, 3]
        base = self._scored(states, distinct, states.pooled(distinct[:, 0]))
        scores = np.empty((plan.variants, *rows.shape))
        for variant in range(plan.variants):
            chosen = PieceMasks.from_variant(masks, variant)
            alike, apart = states.touched(chosen.alike), states.touched(chosen.apart)
            reached = np.flatnonzero(apart[distinct[:, 0]] | alike[distinct[:, [0, 2]]].any(axis=1))
            drawn = donors.choose(apart)[:, segment] if apart.any() else None
            values = base.copy()
            for at in range(0, len(reached), _MASKED):
                some = reached[at : at + _MASKED]
                third = None if drawn is None else drawn[:, some]
                changed, vectors = states.masked(distinct[some][:, [0, 2]], chosen, third)
                masked_rows = some[changed]
                inputs = distinct[masked_rows]
                draws = [self._scored(states, inputs, candidates) for candidates in vectors]
                values[masked_rows] = np.mean(draws, axis=0)
            scores[variant] = rows.means(values[back.reshape(-1), None])[..., 0]
        return scores

    def _scored(
        self, states: StatesOfTexts, rows: NDArray[np.int64], candidates: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Scores of some inputs with these vectors of the candidates, float64 [P]."""
        import torch

        scores = [np.zeros(0)]
        for at in range(0, len(rows), _ROWS):
            some, vectors = rows[at : at + _ROWS], candidates[at : at + _ROWS]
            sides = [vectors if role == 0 else states.pooled(some[:, role]) for role in self.roles]
            given = [torch.from_numpy(side).to(self.model.encoder.device) for side in sides]
            with torch.inference_mode():
                scores.append(self.head(self.features(*given)).double().cpu().numpy())
        return np.concatenate(scores)

    def _states(self, batch: Batch) -> StatesOfTexts:
        """States of the pieces of a batch's texts; remembered for the batch seen last."""
        rows = input_rows(batch, self.needs).texts[:, list(self.roles)]
        wanted = np.union1d(rows, self._donor_texts(batch))
        states: StatesOfTexts | None = self.model.memory.get("states")
        if states is None or not states.holds(batch.texts, wanted):
            how = str(self.model.model.settings["pool"])
            states = StatesOfTexts.encode(self._pieces, batch.texts, wanted, how)
            self.model.memory["states"] = states
            for text in wanted.tolist():  # scores of the texts as they are need not encode again
                self.vectors.hold(batch.texts[text], states.pooled(np.array([text])))
        return states

    def _donor_texts(self, batch: Batch) -> NDArray[np.int64]:
        """The first references of all segments, as far as the batch has them: numbers of texts."""
        first = {
            references[0] for references in map(np.ndarray.tolist, batch.references) if references
        }
        bound_references = self._reference_texts
        numbers = [
            n for n, text in enumerate(batch.texts) if n in first or text in bound_references
        ]
        return np.array(numbers, dtype=np.int64)

    @cached_property
    def _reference_texts(self) -> frozenset[str]:
        return frozenset(self.references)
