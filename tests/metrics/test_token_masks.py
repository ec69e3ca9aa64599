from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import AnnotationError, MaskingError
from gnomon.core.spans import SpanTable
from gnomon.metrics.masking import Action, MaskPlan
from gnomon.metrics.sequences import (
    PRIVATE_CANDIDATE,
    PRIVATE_REFERENCE,
    SHARED,
    Side,
    TokenMasks,
)
from gnomon.metrics.tokenise import TokenTable, tokenise

GROUPS = ("f", "g", "h")


def plan_of(
    annotations: list[dict[str, list[tuple[int, int]]]],
    actions: list[list[int]] | None = None,
    **options: str,
) -> MaskPlan:
    spans = SpanTable.build(annotations, GROUPS)
    if actions is None:
        return MaskPlan.oracles(spans, **options)  # type: ignore[arg-type]  # literals by name
    return MaskPlan(spans, np.array(actions, dtype=np.int8), **options)  # type: ignore[arg-type]  # likewise


@st.composite
def annotated(draw: st.DrawFn) -> tuple[list[str], list[dict[str, list[tuple[int, int]]]]]:
    texts = draw(st.lists(st.text(alphabet="ab.-' é", max_size=14), min_size=1, max_size=4))
    annotations = []
    for text in texts:
        annotation: dict[str, list[tuple[int, int]]] = {}
        for group in GROUPS:
            cuts = draw(st.lists(st.integers(0, len(text)), max_size=6, unique=True).map(sorted))
            pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
            if pairs:
                annotation[group] = pairs
        annotations.append(annotation)
    return texts, annotations


def masked_ids(masks: TokenMasks, text: int, variant: int, side: Side) -> list[int]:
    found = masks.sequences(variant, side)
    return found.ids[found.offsets[text] : found.offsets[text + 1]].tolist()  # type: ignore[no-any-return]  # numpy's types


def slow_mask(
    table: TokenTable, plan: MaskPlan, text: int, variant: int, private: int
) -> list[int]:
    """The definition, token by token and character by character."""
    masked: list[int] = []
    previous: tuple[str, int] | None = None
    for identity, (start, end) in zip(table.ids[table.rows(text)], table.spans(text), strict=True):
        best: tuple[int, str, int] | None = None
        for index, name in enumerate(plan.spans.features):
            spans = plan.spans.spans(text, name)
            inside = [i for i in range(start, end) if any(s.start <= i < s.end for s in spans)]
            covered = {
                "any": bool(inside),
                "majority": len(inside) > (end - start) / 2,
                "inside": len(inside) == end - start,
            }[plan.overlap]
            action = int(plan.actions[variant, index])
            if covered and action and (best is None or action > best[0]):
                number = next(n for n, s in enumerate(spans) if s.start <= inside[0] < s.end)
                best = (action, name, number)
        if best is None:
            masked.append(int(identity))
            previous = None
            continue
        if plan.granularity == "token" or previous != best[1:]:
            masked.append(SHARED if best[0] == Action.SHARED else private)
        previous = best[1:]
    return masked


@given(
    case=annotated(),
    overlap=st.sampled_from(["any", "majority", "inside"]),
    granularity=st.sampled_from(["token", "span"]),
    actions=st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=4),
    name=st.sampled_from(["13a", "none", "char"]),
)
def test_masks_are_those_of_the_plain_definition(
    case: tuple[list[str], list[dict[str, list[tuple[int, int]]]]],
    overlap: str,
    granularity: str,
    actions: list[list[int]],
    name: str,
) -> None:
    texts, annotations = case
    table = tokenise(texts, name)
    plan = plan_of(annotations, actions, overlap=overlap, granularity=granularity)
    masks = TokenMasks.locate(table, plan)
    for variant in range(plan.variants):
        changed = masks.changed(variant)
        for text in range(len(texts)):
            for side, private in (("reference", -2), ("candidate", -3)):
                expected = slow_mask(table, plan, text, variant, private)
                assert masked_ids(masks, text, variant, side) == expected
            assert changed[text] == (expected != table.ids[table.rows(text)].tolist())


def test_a_token_is_masked_when_it_shares_a_character_with_a_span() -> None:
    table = tokenise(["a well-known man"], "13a")
    plan = plan_of([{"f": [(7, 12)]}])
    masks = TokenMasks.locate(table, plan)
    assert table.strings(0) == ["a", "well-known", "man"]
    assert (masks.token.tolist(), masks.group.tolist(), masks.span.tolist()) == ([1], [0], [0])
    ids = table.ids.tolist()
    assert masked_ids(masks, 0, 0, "candidate") == [ids[0], SHARED, ids[2]]
    assert masked_ids(masks, 0, 1, "candidate") == [ids[0], PRIVATE_CANDIDATE, ids[2]]
    assert masked_ids(masks, 0, 1, "reference") == [ids[0], PRIVATE_REFERENCE, ids[2]]
    assert masked_ids(masks, 0, 2, "reference") == ids


@pytest.mark.parametrize(
    ("overlap", "masked"), [("any", [0, 1, 2]), ("majority", [1, 2]), ("inside", [2])]
)
def test_overlap_says_how_much_of_a_token_a_span_must_hold(overlap: str, masked: list[int]) -> None:
    table = tokenise(["abcd efgh ijkl"], "13a")
    plan = plan_of([{"f": [(0, 2), (6, 9), (10, 12), (12, 14)]}], overlap=overlap)
    assert sorted(TokenMasks.locate(table, plan).token.tolist()) == masked


def test_one_mask_per_span_makes_neighbouring_spans_two_masks() -> None:
    table = tokenise(["New York New Delhi is"], "13a")
    plan = plan_of([{"f": [(0, 8), (9, 18)]}], granularity="span")
    assert masked_ids(TokenMasks.locate(table, plan), 0, 0, "reference") == [SHARED, SHARED, 3]


def test_the_strongest_action_wins_where_groups_meet() -> None:
    table = tokenise(["a b c"], "13a")
    plan = plan_of(
        [{"f": [(0, 3)], "g": [(2, 5)], "h": [(0, 5)]}],
        [[Action.SHARED, Action.PRIVATE, Action.KEEP], [0, 0, 0]],
    )
    masks = TokenMasks.locate(table, plan)
    assert masked_ids(masks, 0, 0, "candidate") == [SHARED, PRIVATE_CANDIDATE, PRIVATE_CANDIDATE]
    assert not masks.changed(1).any()


def test_masking_text_that_the_tokeniser_rewrote_is_refused() -> None:
    table = tokenise(["a b", "c"], lambda text: ["x"] if "a" in text else [text])
    with pytest.raises(MaskingError, match="1 of 2 texts"):
        TokenMasks.locate(table, plan_of([{"f": [(0, 1)]}, {}]))
    masks = TokenMasks.locate(table, plan_of([{}, {"f": [(0, 1)]}]))
    assert masks.changed(0).tolist() == [False, True]


def test_no_texts_and_no_spans_are_no_trouble() -> None:
    for texts in ([], [""], ["", "a"]):
        masks = TokenMasks.locate(tokenise(texts, "13a"), plan_of([{} for _ in texts]))
        assert not masks.changed(0).any()
        assert len(masks.token) == 0


def test_spans_of_other_texts_are_refused() -> None:
    with pytest.raises(AnnotationError, match="of 1 texts, the batch has 2"):
        TokenMasks.locate(tokenise(["a", "b"], "13a"), plan_of([{"f": [(0, 1)]}]))
