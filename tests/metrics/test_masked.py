"""Masked BLEU and chrF against sacreBLEU on texts in which masks are written out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from gnomon.core.errors import MaskingError
from gnomon.core.spans import SpanTable
from gnomon.core.testset import TestSet
from gnomon.metrics.bleu import Bleu
from gnomon.metrics.chrf import Chrf
from gnomon.metrics.comparisons import TokenisedTexts
from gnomon.metrics.masking import MaskPlan
from gnomon.metrics.tokenise import TokenTable, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.batch import Batch

GROUPS = ("f", "g")
#: letters that could be taken for masks if masks were strings
ALPHABET = "ab.-' \ue000\uf8ff1é"
text = st.text(alphabet=ALPHABET, max_size=12)
#: how masks are written here: characters outside of ALPHABET
WRITTEN = {
    (1, "candidate"): "S",
    (1, "reference"): "S",
    (2, "candidate"): "C",
    (2, "reference"): "R",
}


@dataclass
class Case:
    testset: TestSet
    batch: Batch
    plan: MaskPlan


@st.composite
def cases(draw: st.DrawFn, *, identical: bool = False) -> Case:
    segments = draw(st.integers(1, 3))
    width = draw(st.integers(1, 2))
    rows = [[draw(text) for _ in range(width)] for _ in range(segments)]
    systems = {
        f"s{k}": [rows[i][0] if identical else draw(text) for i in range(segments)]
        for k in range(draw(st.integers(1, 2)))
    }
    testset = TestSet.from_lists(systems, rows)
    batch = testset.batch()
    annotations = []
    for each in batch.texts:
        annotation = {}
        for group in GROUPS:
            cuts = draw(st.lists(st.integers(0, len(each)), max_size=6, unique=True).map(sorted))
            annotation[group] = list(zip(cuts[::2], cuts[1::2], strict=False))
        annotations.append(annotation)
    spans = SpanTable.build(annotations, GROUPS)
    granularity = draw(st.sampled_from(["token", "span"]))
    overlap = draw(st.sampled_from(["any", "majority", "inside"]))
    actions = draw(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), max_size=3))
    oracles = MaskPlan.oracles(spans, overlap=overlap, granularity=granularity)
    mixed = np.array(actions, dtype=np.int8).reshape(-1, 2)
    plan = MaskPlan(
        spans, np.concatenate([oracles.actions, mixed]), overlap=overlap, granularity=granularity
    )
    return Case(testset, batch, plan)


def masked_tokens(
    table: TokenTable, plan: MaskPlan, number: int, variant: int
) -> list[tuple[int, int, bool] | None]:
    """For each token (action, group, whether a mask begins), or none; by the definition."""
    found: list[tuple[int, int, bool] | None] = []
    previous = None
    for start, end in table.spans(number):
        best = None
        for group, name in enumerate(GROUPS):
            spans = plan.spans.spans(number, name)
            inside = [[s.start <= i < s.end for s in spans] for i in range(start, end)]
            share = sum(map(any, inside)) / (end - start)
            needed = {"any": share > 0, "majority": share > 0.5, "inside": share == 1}
            action = int(plan.actions[variant, group])
            if needed[plan.overlap] and action and (best is None or action > best[0]):
                first = next(flags.index(True) for flags in inside if any(flags))
                best = (action, group, first)
        begins = plan.granularity == "token" or best != previous
        found.append(None if best is None else (best[0], best[1], begins))
        previous = best
    return found


def written_words(
    table: TokenTable, plan: MaskPlan, number: int, variant: int, side: str
) -> list[str]:
    masked = masked_tokens(table, plan, number, variant)
    words = []
    for word, mask in zip(table.strings(number), masked, strict=True):
        if mask is None:
            words.append(word)
        elif mask[2]:
            words.append(WRITTEN[mask[0], side])
    return words


def each_cell(case: Case) -> Iterator[tuple[int, int, int, int, Sequence[int]]]:
    for variant in range(case.plan.variants):
        for k in range(case.batch.shape[0]):
            for i in range(case.batch.shape[1]):
                yield variant, k, i, int(case.batch.candidates[k, i]), case.batch.references[i]


@given(case=cases(), options=st.sampled_from([{}, {"smooth_method": "none"}, {"lowercase": True}]))
def test_masked_bleu_is_bleu_of_the_tokens_with_masks_in_place(
    case: Case, options: dict[str, Any]
) -> None:
    found = Bleu(**options).bind(case.testset).masked(case.batch, case.plan)
    table = tokenise(case.batch.texts, "13a", lowercase=bool(options.get("lowercase")))
    smooth = options.get("smooth_method", "exp")
    peer = BLEU(effective_order=True, tokenize="none", smooth_method=smooth)
    for variant, k, i, candidate, references in each_cell(case):
        own = " ".join(written_words(table, case.plan, candidate, variant, "candidate"))
        theirs = [
            " ".join(written_words(table, case.plan, int(r), variant, "reference"))
            for r in references
        ]
        expected = peer.sentence_score(own, theirs).score
        assert found[variant, k, i] == pytest.approx(expected, abs=1e-9)


def masked_parts(
    table: TokenTable, plan: MaskPlan, number: int, variant: int
) -> Iterator[tuple[int, int, tuple[int, int, bool] | None]]:
    """The parts of tokens (start, end, mask); "any" masks the characters of spans alone."""
    if plan.overlap != "any":
        masked = masked_tokens(table, plan, number, variant)
        yield from ((*at, mask) for at, mask in zip(table.spans(number), masked, strict=True))
        return
    spans = [(g, s) for g, name in enumerate(GROUPS) for s in plan.spans.spans(number, name)]
    actions = plan.actions[variant].tolist()
    previous = None
    for start, end in table.spans(number):
        over = []
        for i in range(start, end):
            here = [n for n, (g, s) in enumerate(spans) if actions[g] and s.start <= i < s.end]
            over.append(min(here, key=lambda n: (-actions[spans[n][0]], n), default=None))
        at = start
        for which, run in groupby(over):
            length = len(list(run))
            mask = None
            if which is not None:
                group = spans[which][0]
                begins = plan.granularity == "token" or which != previous
                mask = actions[group], group, begins
            yield at, at + length, mask
            at, previous = at + length, which


def written_characters(
    case: Case, table: TokenTable, number: int, variant: int, side: str, lengths: tuple[int, ...]
) -> str:
    """The text with masks written over its words; a continued mask takes the gap before it."""
    original = case.batch.texts[number]
    parts = []
    at = 0
    for start, end, mask in masked_parts(table, case.plan, number, variant):
        if mask is None:
            parts.append(original[at:end])
        elif mask[2]:
            parts.append(original[at:start] + WRITTEN[mask[0], side] * lengths[mask[1]])
        at = end
    return "".join(parts) + original[at:]


class WordsGiven(CHRF):
    """sacreBLEU's chrF with the words of each text told, since masks would be cut differently."""

    words: dict[str, list[str]]

    def _remove_punctuation(self, sent: str) -> list[str]:
        return self.words[sent]


@given(
    case=cases(),
    options=st.sampled_from(
        [{}, {"whitespace": True}, {"word_order": 2}, {"eps_smoothing": True, "char_order": 2}]
    ),
    given_lengths=st.none() | st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_masked_chrf_is_chrf_of_the_text_with_masks_written_over_its_words(
    case: Case, options: dict[str, Any], given_lengths: tuple[int, int] | None
) -> None:
    bound = Chrf(**options).bind(case.testset)
    lengths = given_lengths or bound.mask_lengths(case.batch, case.plan)
    found = bound.masked(case.batch, case.plan.fill_lengths(given_lengths))
    table = tokenise(case.batch.texts, "chrf")
    for variant, k, i, candidate, references in each_cell(case):
        peer = WordsGiven(**options)
        peer.words = {}

        def write(
            number: int, side: str, *, variant: int = variant, peer: WordsGiven = peer
        ) -> str:
            line = written_characters(case, table, number, variant, side, lengths)
            words = written_words(table, case.plan, number, variant, side)
            # equal lines of other words (rare) are told apart by a space, which is not counted
            while peer.word_order and peer.words.setdefault(line, words) != words:
                line += " "
            return line

        own = write(candidate, "candidate")
        theirs = [write(int(r), "reference") for r in references]
        expected = peer.sentence_score(own, theirs).score
        assert found[variant, k, i] == pytest.approx(expected, abs=1e-9)


METRICS = (Bleu(), Bleu(variant="authors"), Chrf(), Chrf(word_order=2, whitespace=True))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.spec)
@given(case=cases())
def test_nothing_tagged_is_nothing_changed(metric: Bleu | Chrf, case: Case) -> None:
    bound = metric.bind(case.testset)
    nothing = SpanTable.build([{} for _ in case.batch.texts], GROUPS)
    masked = bound.masked(case.batch, MaskPlan.oracles(nothing))
    base = bound.segments(case.batch)
    assert all((scores == base).all() for scores in masked)
    assert bound.texts.rescored == 0


@pytest.mark.parametrize(
    "metric", [Bleu(), Chrf(), Chrf(word_order=2)], ids=lambda metric: metric.spec
)
@given(case=cases(identical=True))
def test_a_candidate_that_is_its_reference_has_base_and_oracle_100(
    metric: Bleu | Chrf, case: Case
) -> None:
    bound = metric.bind(case.testset)
    masked = bound.masked(case.batch, case.plan)
    base = bound.segments(case.batch)
    full = base > 0  # empty texts score 0
    assert base[full] == pytest.approx(100)
    for group in range(len(GROUPS)):
        assert masked[2 * group][full] == pytest.approx(100)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.spec)
@given(case=cases())
def test_the_oracle_is_never_below_the_anti_oracle(metric: Bleu | Chrf, case: Case) -> None:
    bound = metric.bind(case.testset)
    masked = bound.masked(case.batch, case.plan)
    base = bound.segments(case.batch)
    for group in range(len(GROUPS)):
        oracle, anti = masked[2 * group], masked[2 * group + 1]
        assert (oracle >= anti - 1e-9).all()
        if isinstance(metric, Bleu) and case.plan.granularity == "token":
            # masked words keep the lengths; what matched elsewhere still does, at most
            assert (base >= anti - 1e-9).all()


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.spec)
@given(case=cases())
def test_only_comparisons_that_a_variant_changes_are_rescored(
    metric: Bleu | Chrf, case: Case
) -> None:
    bound = metric.bind(case.testset)
    bound.masked(case.batch, case.plan)
    table = tokenise(case.batch.texts, "13a" if isinstance(metric, Bleu) else "chrf")
    changed = set()
    for variant, _, _, candidate, references in each_cell(case):
        texts = [candidate, *map(int, references)]
        if any(any(masked_tokens(table, case.plan, t, variant)) for t in texts):
            changed.add((variant, *texts))
    assert bound.texts.rescored == len(changed)
    assert bound.texts.tokens.runs == 1


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.spec)
@given(case=cases())
def test_parts_of_a_batch_score_as_the_whole(metric: Bleu | Chrf, case: Case) -> None:
    bound = metric.bind(case.testset)
    plan = case.plan.fill_lengths(bound.mask_lengths(case.batch, case.plan))
    whole = bound.masked(case.batch, plan)
    systems, segments = (list(range(size))[::-1] for size in case.batch.shape)
    reversed_ = bound.masked(case.batch.select(systems=systems, segments=segments), plan)
    assert (reversed_ == whole[:, ::-1, ::-1]).all()
    assert bound.texts.tokens.runs == 1


def test_masks_are_found_once_for_plans_over_the_same_spans() -> None:
    testset = TestSet.from_lists({"a": ["a b"]}, ["a c"])
    batch = testset.batch()
    spans = SpanTable.build([{"f": [(0, 1)]}, {}], ["f"])
    bound = Bleu().bind(testset)
    plan = MaskPlan.oracles(spans)
    one = bound.texts.masks(batch, plan)
    other = bound.texts.masks(batch, MaskPlan(spans, plan.actions[1:]))
    assert other.token is one.token
    assert (
        bound.texts.masks(batch, MaskPlan.oracles(spans, overlap="inside")).token is not one.token
    )


def test_masks_do_not_match_words_that_look_like_them() -> None:
    testset = TestSet.from_lists({"a": ["x -1 -3 \ue000"]}, ["-1 -2 y \ue000"])
    batch = testset.batch()
    spans = SpanTable.build([{"f": [(6, 7)]}, {"f": [(0, 1)]}], ["f"])
    assert batch.texts[0] == "-1 -2 y \ue000"
    oracle, anti = (
        Bleu(smooth_method="none", max_ngram_order=1)
        .bind(testset)
        .masked(batch, MaskPlan.oracles(spans))[:, 0, 0]
    )
    # 13a leaves "-1" and "-3" whole: candidate [M, -1, -3, P], reference [-1, -2, M, P]
    assert (oracle, anti) == (pytest.approx(75), pytest.approx(50))


def test_texts_that_the_tokeniser_rewrites_cannot_be_masked() -> None:
    testset = TestSet.from_lists({"a": ["a b"]}, ["a c"])
    bound = Bleu().bind(testset)

    class Rewriting:
        name = "rewriting"
        local = False

        def __call__(self, line: str) -> Any:
            from gnomon.metrics.tokenise import Tokens

            return Tokens([line], [-1], [-1])

    object.__setattr__(bound, "texts", TokenisedTexts(Rewriting()))
    spans = SpanTable.build([{"f": [(0, 1)]}, {}], ["f"])
    with pytest.raises(MaskingError, match="rewriting"):
        bound.masked(testset.batch(), MaskPlan.oracles(spans))


def test_an_empty_batch_of_variants_is_no_trouble() -> None:
    testset = TestSet.from_lists({"a": [""]}, [""])
    spans = SpanTable.build([{}], [])
    for metric in METRICS:
        bound = metric.bind(testset)
        assert bound.masked(testset.batch(), MaskPlan.oracles(spans)).shape == (0, 1, 1)
        assert bound.segments(testset.batch()).tolist() == [[0.0]]


def test_one_mask_for_a_span_takes_the_spaces_inside_the_span_along() -> None:
    testset = TestSet.from_lists({"a": ["in New York now"]}, ["in Old Rome now"])
    batch = testset.batch()
    spans = SpanTable.build([{"f": [(3, 11)]}] * 2, ["f"])
    plan = MaskPlan.oracles(spans, granularity="span").fill_lengths([3])
    oracle, anti = Chrf(whitespace=True).bind(testset).masked(batch, plan)[:, 0, 0]
    assert oracle == pytest.approx(100)
    expected = CHRF(whitespace=True).sentence_score("in CCC now", ["in RRR now"]).score
    assert anti == pytest.approx(expected, abs=1e-9)
