"""COMET of gnomon against the original package, on models with random weights."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.told import notes

from gnomon.core.errors import DataError, SpecError
from gnomon.core.spans import SpanTable
from gnomon.core.testset import TestSet
from gnomon.metrics import MaskPlan, parse
from gnomon.metrics.masking import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

TOLERANCE = 1e-5
MODELS = [
    ("regression", "sparsemax"),
    ("regression", "softmax_layernorm"),
    ("regression", "cls_final"),
    ("regression", "one_layer_max"),
    ("regression", "minilm"),
    ("regression", "lightning1"),
    ("referenceless", "qe20_softmax_layernorm"),
    ("referenceless", "qe_sparsemax"),
    ("referenceless", "sentinel_src"),
    ("referenceless", "sentinel_mt"),
    ("referenceless", "sentinel_ref"),
]


@pytest.mark.parametrize(("family", "model"), MODELS)
def test_scores_are_those_of_the_original_package(
    oracle: Callable[[str, str], Any], family: str, model: str
) -> None:
    found = oracle(family, model)
    testset = found.testset()
    bound = parse(f"comet('{found.folder}', device='cpu', batch=64)").bind(testset)
    expected = found.kept(found.expected["scores"])
    np.testing.assert_allclose(bound.segments(testset.batch())[0], expected, atol=TOLERANCE, rtol=0)
    mean = float(np.mean(expected))
    np.testing.assert_allclose(bound.system(testset.batch()), [mean], atol=TOLERANCE, rtol=0)


@pytest.mark.verify
@pytest.mark.parametrize("batch", [1, 2, 7, 64, 1000])
@pytest.mark.parametrize(("family", "model"), MODELS)
def test_the_size_of_batches_changes_no_score(
    oracle: Callable[[str, str], Any], family: str, model: str, batch: int
) -> None:
    found = oracle(family, model)
    testset = found.testset()
    bound = parse(f"comet('{found.folder}', device='cpu', batch={batch})").bind(testset)
    scores = bound.segments(testset.batch())[0]
    np.testing.assert_allclose(scores, found.kept(found.expected["scores"]), atol=TOLERANCE, rtol=0)


def test_one_text_at_a_time_gives_the_same_scores(oracle: Callable[[str, str], Any]) -> None:
    found = oracle("regression", "softmax_layernorm")
    testset = found.testset()
    bound = parse(f"comet('{found.folder}', device='cpu', batch=1)").bind(testset)
    scores = bound.segments(testset.batch())[0]
    np.testing.assert_allclose(scores, found.kept(found.expected["scores"]), atol=TOLERANCE, rtol=0)


def test_each_distinct_text_is_encoded_once_whatever_its_role_and_system(
    oracle: Callable[[str, str], Any],
) -> None:
    found = oracle("regression", "sparsemax")
    rows = found.compared[:12]
    texts = [row["mt"] for row in rows]
    systems = {"a": texts, "b": texts[:6] + [row["ref"] for row in rows[6:]], "c": texts}
    testset = TestSet.from_lists(
        systems, [row["ref"] for row in rows], sources=[row["src"] for row in rows]
    )
    bound = parse(f"comet('{found.folder}', device='cpu', batch=8)").bind(testset)
    scores = bound.segments(testset.batch())
    every = {text for row in rows for text in (row["mt"], row["src"], row["ref"])}
    assert bound.model.encoder.encoded == len(every)
    np.testing.assert_array_equal(scores[0], scores[2])
    bound.segments(testset.batch().select(systems=[1, 2], segments=[3, 1]))
    assert bound.model.encoder.encoded == len(every)


def test_several_references_count_by_their_mean_and_none_gives_no_score(
    oracle: Callable[[str, str], Any],
) -> None:
    found = oracle("regression", "sparsemax")
    rows = found.compared[:4]
    mt, source = [row["mt"] for row in rows], [row["src"] for row in rows]
    first = [row["ref"] for row in rows]
    second = [None, None, mt[2], "another reference"]
    spec = f"comet('{found.folder}', device='cpu')"

    def scores(references: dict[str, list[str | None]]) -> np.ndarray:
        testset = TestSet(name="t", references=references, sources=source, systems={"a": mt})
        return parse(spec).bind(testset).segments(testset.batch())[0]

    both = scores({"A": first, "B": second})
    one, other = scores({"A": first}), scores({"A": [mt[0], mt[1], *second[2:]]})
    np.testing.assert_allclose(both[:2], one[:2], atol=1e-6)
    np.testing.assert_allclose(both[2:], (one[2:] + other[2:]) / 2, atol=1e-6)
    nothing = scores({"A": [None, *first[1:]]})
    assert np.isnan(nothing[0])
    assert not np.isnan(nothing[1:]).any()


def test_what_a_model_needs_is_told_by_its_class(oracle: Callable[[str, str], Any]) -> None:
    needs = {
        ("regression", "sparsemax"): {"references", "sources"},
        ("referenceless", "qe_sparsemax"): {"sources"},
        ("referenceless", "sentinel_src"): {"sources"},
        ("referenceless", "sentinel_mt"): set(),
        ("referenceless", "sentinel_ref"): {"references"},
    }
    for name, wanted in needs.items():
        assert parse(f"comet('{oracle(*name).folder}')").needs == wanted
    without = oracle("regression", "sparsemax").testset(sources=False)
    with pytest.raises(DataError, match="needs sources"):
        parse(f"comet('{oracle('regression', 'sparsemax').folder}')").bind(without)


def test_texts_that_are_cut_are_counted(oracle: Callable[[str, str], Any]) -> None:
    found = oracle("regression", "sparsemax")
    testset = found.testset()
    bound = parse(f"comet('{found.folder}', device='cpu')").bind(testset)
    (told,) = notes(bound.notices(testset.batch()))
    assert "5 of " in told
    assert "510 pieces" in told
    assert not notes(bound.notices(testset.batch().select(segments=[0, 1])))


def test_texts_that_spell_special_tokens_are_text(oracle: Callable[[str, str], Any]) -> None:
    found = oracle("regression", "sparsemax")
    bound = parse(f"comet('{found.folder}', device='cpu')").bind(found.testset())
    encoder = bound.model.encoder
    ids = [one.ids.tolist() for one in encoder.pieces(["a </s> <pad> <s> <mask>", "\ud800"])]
    special = {encoder.begin, encoder.end, encoder.padding}
    assert not any(special & set(own) for own in ids)


def test_vectors_are_kept_on_disk_where_a_folder_is_named(
    oracle: Callable[[str, str], Any], tmp_path: Path
) -> None:
    found = oracle("regression", "cls_final")
    testset = found.testset()
    spec = f"comet('{found.folder}', device='cpu', batch=32, embeddings='{tmp_path}')"
    first, second = parse(spec).bind(testset), parse(spec).bind(testset)
    scores = first.segments(testset.batch())
    np.testing.assert_array_equal(second.segments(testset.batch()), scores)
    assert second.model.encoder.encoded == 0
    assert first.model.encoder.encoded > 0


def test_half_precision_is_told_and_close(oracle: Callable[[str, str], Any]) -> None:
    found = oracle("regression", "sparsemax")
    testset = found.testset()
    full = parse(f"comet('{found.folder}', device='cpu')").bind(testset)
    half = parse(f"comet('{found.folder}', device='cpu', precision='bf16')").bind(testset)
    batch = testset.batch().select(segments=range(20))
    gap = np.abs(full.segments(batch) - half.segments(batch)).max()
    assert 0 < gap < 0.2
    assert "precision:bf16" in str(half.signature)
    assert "licence:unknown" in str(full.signature)


def test_the_signature_names_the_weights(oracle: Callable[[str, str], Any]) -> None:
    one, other = oracle("regression", "sparsemax"), oracle("regression", "cls_final")
    signatures = [
        str(parse(f"comet('{found.folder}', device='cpu')").bind(found.testset()).signature)
        for found in (one, other)
    ]
    hashes = [text.partition("#")[2][:16] for text in signatures]
    assert len(set(hashes)) == 2
    assert all("model:" in text for text in signatures)


def test_a_folder_that_was_not_converted_is_answered_by_the_command(oracles: Path) -> None:
    folder = oracles / "regression" / "sparsemax"
    with pytest.raises(DataError, match=f"gnomon setup model {folder}"):
        parse(f"comet('{folder}')").needs  # noqa: B018  # what it needs stands in the folder


def test_an_option_out_of_range_is_refused(oracle: Callable[[str, str], Any]) -> None:
    folder = oracle("regression", "sparsemax").folder
    with pytest.raises(SpecError, match="batch"):
        parse(f"comet('{folder}', batch=0)")
    with pytest.raises(SpecError, match="precision"):
        parse(f"comet('{folder}', precision='int4')")


# Masks: texts pooled without some of their words.


def _masked(oracle: Callable[[str, str], Any], model: str) -> tuple[Any, Any, Any, Any]:
    """A bound metric, a batch of two systems, and a plan that masks some words of a feature."""
    found = oracle("regression", model)
    source = ["Die Katze saß da .", "Ein Hund .", "Nichts"]
    systems = {"a": ["the cat sat there .", "a dog .", ""], "b": ["the dog sat", "", "nothing ."]}
    testset = TestSet.from_lists(
        systems, ["the cat was sitting .", "a dog", "none"], sources=source
    )
    batch = testset.batch()
    nouns = {"cat", "dog", "nothing", "none"}
    annotations = []
    for text in batch.texts:
        spans = [(m.start(), m.end()) for m in re.finditer(r"\S+", text) if m[0] in nouns]
        annotations.append({"noun": spans, "cat": [s for s in spans if text[slice(*s)] == "cat"]})
    plan = MaskPlan.oracles(SpanTable.build(annotations, ["noun", "cat"]))
    return parse(f"comet('{found.folder}', device='cpu')").bind(testset), batch, plan, annotations


class _Vectors:
    """Vectors of texts with words exchanged, piece by piece as the method is defined."""

    def __init__(self, bound: Any, batch: Any, annotations: Any, *, largest: bool) -> None:
        self.bound, self.batch, self.annotations = bound, batch, annotations
        self.largest = largest

    def parts(self, text: int, feature: str) -> tuple[Any, dict[str, Any]]:
        """The states of a text's pieces that are not masked, and of each masked word."""
        torch = pytest.importorskip("torch")
        encoder = self.bound.model.encoder
        (pieces,) = encoder.pieces([self.batch.texts[text]])
        ((_, states),) = encoder.states([encoder.alone(pieces.ids)])
        state = self.bound.mix(states)[0]
        spans = self.annotations[text][feature]

        def inside(some: list[tuple[int, int]]) -> Any:
            return torch.tensor([False, *(_meets(p, some) for p in pieces.places.tolist()), False])

        words = {self.batch.texts[text][slice(*one)]: state[inside([one])] for one in spans}
        return state[~inside(spans)], words

    def pool(self, rows: Sequence[Any]) -> Any:
        joined = pytest.importorskip("torch").cat(list(rows))
        return joined.amax(dim=0) if self.largest else joined.mean(dim=0)

    def whole(self, text: int) -> Any:
        kept, words = self.parts(text, next(iter(self.annotations[text])))
        return self.pool([kept, *words.values()])

    def oracle(self, text: int, reference: int, feature: str) -> list[Any]:
        """What both have stays, the rest of the one gives way to the rest of the other."""
        kept, own = self.parts(text, feature)
        _, its = self.parts(reference, feature)
        stays = [one for word, one in own.items() if word in its]
        comes = [one for word, one in its.items() if word not in own]
        return [self.pool([kept, *stays, *comes])]

    def anti_oracles(self, text: int, segment: int, feature: str) -> list[Any]:
        """With the words of each other reference, in the number of the text's own."""
        kept, own = self.parts(text, feature)
        found = []
        for donor in (int(self.batch.references[n][0]) for n in range(3) if n != segment):
            its = list(self.parts(donor, feature)[1].values())
            if its and own:
                size = sum(len(one) for one in own.values())
                rows = pytest.importorskip("torch").cat(its)
                given = rows if self.largest else rows.mean(0).expand(size, -1)
                found.append(self.pool([kept, given]))
        return found or [self.pool([kept])]


@pytest.mark.parametrize("model", ["sparsemax", "softmax_layernorm", "one_layer_max"])
def test_masked_words_are_those_of_the_reference_or_of_another_one(
    oracle: Callable[[str, str], Any], model: str
) -> None:
    bound, batch, plan, annotations = _masked(oracle, model)
    scores = bound.masked(batch, plan)
    assert scores.shape == (4, 2, 3)
    vectors = _Vectors(bound, batch, annotations, largest=model == "one_layer_max")
    variants = enumerate(product(["noun", "cat"], [True, False]))
    for (n, (feature, shared)), k, m in product(variants, range(2), range(3)):
        own, other = int(batch.candidates[k, m]), int(batch.references[m][0])
        fixed = [vectors.whole(int(batch.sources[m])), vectors.whole(other)]
        candidates = (
            vectors.oracle(own, other, feature) if shared else vectors.anti_oracles(own, m, feature)
        )
        every = [
            float(bound.head(bound.features(*(x[None] for x in (one, *fixed))))[0])
            for one in candidates
        ]
        wanted = [(a + b) / 2 for a in every for b in every]  # of two draws from one or two
        assert min(abs(scores[n, k, m] - one) for one in wanted) < TOLERANCE


def _meets(place: list[int], spans: list[tuple[int, int]]) -> bool:
    # pieces of these vocabularies hold no blanks of their own
    return any(place[0] < end and start < place[1] for start, end in spans)


def test_masks_cost_no_encoding_beyond_that_of_the_texts(oracle: Callable[[str, str], Any]) -> None:
    bound, batch, plan, _ = _masked(oracle, "cls_final")
    assert "mask" not in bound.can  # it looks at the first position alone
    bound, batch, plan, _ = _masked(oracle, "sparsemax")
    assert "mask" in bound.can
    bound.model.memory.clear()
    before = bound.model.encoder.encoded
    bound = replace(bound)
    bound.mask_lengths(batch, plan)
    base = bound.segments(batch)
    for first in (0, 2):
        bound.masked(batch, plan.keep([first, first + 1]))
    assert bound.model.encoder.encoded - before == len(batch.texts)
    fresh = replace(bound)
    bound.model.memory.clear()
    np.testing.assert_allclose(fresh.segments(batch), base, atol=1e-6)


@pytest.mark.parametrize("model", ["sparsemax", "one_layer_max"])
def test_states_of_wide_encoders_take_half_the_room_and_a_file_changes_no_masked_score(
    oracle: Callable[[str, str], Any], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound, batch, plan, _ = _masked(oracle, model)
    wanted, base = bound.masked(batch, plan), bound.segments(batch)

    def again(name: str) -> tuple[Any, Any]:
        bound.model.memory.clear()
        monkeypatch.setattr(f"gnomon.learned.pooling.{name}", 0)
        fresh = replace(bound)
        scores, states = fresh.masked(batch, plan), bound.model.memory["states"].states.values
        np.testing.assert_allclose(fresh.segments(batch), base, atol=1e-6)
        bound.model.memory.clear()
        return scores, states

    scores, states = again("_MEMORY")
    assert not states.flags.owndata  # a map of a file
    np.testing.assert_array_equal(scores, wanted)
    scores, states = again("_EXACT")
    assert states.dtype == np.float16
    np.testing.assert_allclose(scores, wanted, atol=1e-3)
    assert np.abs(scores - wanted).max() > 0


def test_where_neither_side_has_masked_words_the_score_stays(
    oracle: Callable[[str, str], Any],
) -> None:
    bound, batch, plan, _ = _masked(oracle, "sparsemax")
    scores, base = bound.masked(batch, plan), bound.segments(batch)
    np.testing.assert_allclose(scores[2:, :, 1:], np.stack([base[:, 1:]] * 2), atol=1e-6)
    np.testing.assert_allclose(scores[1, 1, 1], base[1, 1], atol=1e-6)  # it is empty
    assert abs(scores[0, 1, 1] - base[1, 1]) > 1e-4  # and lacks what the reference has
    assert abs(scores[1, 0, 0] - base[0, 0]) > 1e-4


def test_words_that_are_right_gain_nothing(oracle: Callable[[str, str], Any]) -> None:
    bound, batch, plan, annotations = _masked(oracle, "sparsemax")
    base = bound.segments(batch)
    (pairs,) = bound.masked(batch, plan.keep([2]))
    assert "cat" in batch.texts[batch.candidates[0, 0]]  # and in the reference
    assert annotations[batch.candidates[1, 0]]["cat"] == []
    assert pairs[0, 0] == pytest.approx(base[0, 0], abs=1e-6)
    assert abs(pairs[1, 0] - base[1, 0]) > 1e-4


def test_segments_draw_the_same_words_for_all_systems_and_never_their_own(
    oracle: Callable[[str, str], Any],
) -> None:
    found = oracle("regression", "softmax_layernorm")
    source = ["eins", "zwei", "drei"]
    references = ["a dog .", "the cat .", "one horse ."]
    outputs = ["a pig .", "the cow .", "one hen ."]
    testset = TestSet.from_lists({"x": outputs, "y": outputs}, references, sources=source)
    batch = testset.batch()
    places = [re.search(r"\w+(?= \.)", one) for one in batch.texts]
    spans = [{"noun": [m.span()] if m else []} for m in places]
    plan = MaskPlan.oracles(SpanTable.build(spans, ["noun"])).keep([1])
    bound: Any = parse(f"comet('{found.folder}', device='cpu')").bind(testset)
    (scores,) = bound.masked(batch, plan)
    np.testing.assert_array_equal(scores[0], scores[1])
    again = bound.masked(batch, plan)[0]
    np.testing.assert_array_equal(scores, again)


def test_the_oracle_of_a_reference_is_its_own_score(oracle: Callable[[str, str], Any]) -> None:
    found = oracle("regression", "softmax_layernorm")
    text = "the cat sat there ."
    testset = TestSet.from_lists({"a": [text]}, [text], sources=["Die Katze saß da ."])
    batch = testset.batch()
    spans = [{"noun": [(4, 7)] if one == text else []} for one in batch.texts]
    plan = MaskPlan.oracles(SpanTable.build(spans, ["noun"]))
    bound: Any = parse(f"comet('{found.folder}', device='cpu')").bind(testset)
    same, different = bound.masked(batch, plan)
    np.testing.assert_allclose(same, bound.segments(batch), atol=1e-5)
    assert abs(different[0, 0] - same[0, 0]) > 1e-4


# Where the words of anti-oracles come from.


def _nouns(texts: Sequence[str]) -> list[dict[str, list[tuple[int, int]]]]:
    """The word before the full stop of each text is its noun."""
    places = [re.search(r"\w+(?= \.)", one) for one in texts]
    return [{"noun": [found.span()] if found else []} for found in places]


def _anti_plan(batch: Any) -> MaskPlan:
    return MaskPlan.oracles(SpanTable.build(_nouns(batch.texts), ["noun"])).keep([1])


ANIMALS = ["dog", "cat", "horse", "cow", "hen", "pig", "goat", "owl"]


def _farm(order: Sequence[int], systems: Sequence[str] = ("x", "y")) -> TestSet:
    """A segment for each animal; one system names the next one, and the other none but pigs."""
    outputs = {
        "x": [f"we saw one {ANIMALS[(n + 1) % 8]} ." for n in order],
        "y": [f"and there were {n} pigs ." for n in order],
    }
    return TestSet.from_lists(
        {name: outputs[name] for name in systems},
        [f"a {ANIMALS[n]} ." for n in order],
        sources=[f"{n} Tiere" for n in order],
    )


def test_a_masked_score_does_not_depend_on_what_else_is_scored_with_it(
    oracle: Callable[[str, str], Any],
) -> None:
    found = oracle("regression", "softmax_layernorm")

    def scores(testset: TestSet, segments: Sequence[int] | None = None, size: int = 64) -> Any:
        bound: Any = parse(f"comet('{found.folder}', device='cpu', batch={size})").bind(testset)
        batch = testset.batch()
        some = batch if segments is None else batch.select(segments=segments)
        return bound.masked(some, _anti_plan(batch))[0]

    whole = scores(_farm(range(8)))
    plain = parse(f"comet('{found.folder}', device='cpu')").bind(_farm(range(8)))
    assert (np.abs(whole - plain.segments(_farm(range(8)).batch())) > 1e-4).all()
    order = [5, 2, 7, 0, 1, 6, 3, 4]
    np.testing.assert_allclose(scores(_farm(order)), whole[:, order], atol=1e-6)
    np.testing.assert_allclose(scores(_farm(range(8)), size=1), whole, atol=1e-6)
    for row, name in enumerate("xy"):
        np.testing.assert_allclose(scores(_farm(range(8), [name]))[0], whole[row], atol=1e-6)
    for some in ([3], [6, 1, 2]):
        np.testing.assert_allclose(scores(_farm(range(8)), some), whole[:, some], atol=1e-6)


@pytest.mark.verify
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_no_order_part_or_size_of_batches_changes_a_masked_score(
    oracle: Callable[[str, str], Any], data: st.DataObject
) -> None:
    folder = oracle("regression", "sparsemax").folder

    def scores(testset: TestSet, size: int, **part: Any) -> Any:
        bound: Any = parse(f"comet('{folder}', device='cpu', batch={size})").bind(testset)
        batch = testset.batch()
        plan = MaskPlan.oracles(SpanTable.build(_nouns(batch.texts), ["noun"]))
        return bound.masked(batch.select(**part) if part else batch, plan)

    order = data.draw(st.permutations(range(8)))
    some = order[: data.draw(st.integers(1, 8))]
    system, size = data.draw(st.integers(0, 1)), data.draw(st.sampled_from([1, 3, 64]))
    whole = scores(_farm(range(8)), 64)
    part = scores(_farm(range(8)), size, segments=some, systems=[system])
    np.testing.assert_allclose(part[:, 0], whole[:, system][:, some], atol=TOLERANCE)
    moved = scores(_farm(order, ["yx"[system], "xy"[system]]), size)
    np.testing.assert_allclose(moved[:, 1], whole[:, system][:, order], atol=TOLERANCE)


def test_another_segment_changes_masked_scores_only_where_its_words_are_drawn(
    oracle: Callable[[str, str], Any],
) -> None:
    found = oracle("regression", "sparsemax")

    def scores(size: int) -> Any:
        testset = _farm(range(size))
        bound: Any = parse(f"comet('{found.folder}', device='cpu')").bind(testset)
        return bound.masked(testset.batch(), _anti_plan(testset.batch()))[0]

    few, more = scores(7), scores(8)[:, :7]
    same = np.isclose(few, more, atol=1e-6)
    np.testing.assert_array_equal(same[0], same[1])  # all systems draw the same words
    assert 4 <= same[0].sum() < 7  # two draws of seven references each
    assert np.abs(few - more).max() > 1e-4


def test_segments_that_share_some_texts_draw_words_of_their_own(
    oracle: Callable[[str, str], Any],
) -> None:
    found = oracle("regression", "sparsemax")
    testset = TestSet(
        name="t",
        systems={"s": ["a pig .", "a pig .", "a pig ."]},
        references={"A": ["a dog .", "a dog .", "one cat ."], "B": [None, "one cat .", None]},
        sources=["ein Tier", "ein Tier", "zwei"],
    )
    batch = testset.batch()
    bound: Any = parse(f"comet('{found.folder}', device='cpu')").bind(testset)
    (scores,) = bound.masked(batch, _anti_plan(batch))
    vectors = _Vectors(bound, batch, _nouns(batch.texts), largest=False)
    number = {text: n for n, text in enumerate(batch.texts)}
    kept, own = vectors.parts(number["a pig ."], "noun")
    (word,) = own.values()

    def score(rows: Any, source: str, reference: str) -> float:
        sides = [vectors.pool(rows), *(vectors.whole(number[one]) for one in (source, reference))]
        return float(bound.head(bound.features(*(one[None] for one in sides)))[0])

    def with_word_of(text: str) -> list[Any]:
        (given,) = vectors.parts(number[text], "noun")[1].values()
        return [kept, given.mean(0).expand(len(word), -1)]

    first = score(with_word_of("one cat ."), "ein Tier", "a dog .")
    # the second has both references for its own: there is no other word, and its own goes
    second = [score([kept], "ein Tier", one) for one in ("a dog .", "one cat .")]
    third = score(with_word_of("a dog ."), "zwei", "one cat .")
    np.testing.assert_allclose(scores[0], [first, np.mean(second), third], atol=TOLERANCE)


def test_with_one_segment_words_are_left_out_and_it_is_said(
    oracle: Callable[[str, str], Any],
) -> None:
    found = oracle("regression", "sparsemax")
    spec = f"comet('{found.folder}', device='cpu')"
    testset = _farm([0])
    batch = testset.batch()
    bound: Any = parse(spec).bind(testset)
    vectors = _Vectors(bound, batch, _nouns(batch.texts), largest=False)
    candidate, other = int(batch.candidates[0, 0]), int(batch.references[0][0])
    kept, _ = vectors.parts(candidate, "noun")
    fixed = [vectors.whole(int(batch.sources[0])), vectors.whole(other)]
    sides = [one[None] for one in (vectors.pool([kept]), *fixed)]
    (scores,) = bound.masked(batch, _anti_plan(batch))
    assert scores[0, 0] == pytest.approx(float(bound.head(bound.features(*sides))[0]), abs=1e-5)
    (told,) = notes(bound.mask_notices())
    assert "no two different references" in told
    assert "masking='substitute'" in told
    assert notes(parse(spec).bind(_farm([0, 1])).mask_notices()) == ()


@pytest.mark.parametrize("inner_first", [True, False])
def test_words_within_words_that_are_masked_alike_keep_what_both_sides_have(
    oracle: Callable[[str, str], Any], *, inner_first: bool
) -> None:
    found = oracle("regression", "sparsemax")
    texts = ["the New York Times sat", "a New York Times of London", "Zeitung"]
    testset = TestSet.from_lists({"s": [texts[0]]}, [texts[1]], sources=[texts[2]])
    batch = testset.batch()

    def span(text: str, word: str) -> list[tuple[int, int]]:
        at = text.find(word)
        return [(at, at + len(word))] if at >= 0 else []

    # in the candidate the name holds a place, in the reference the place stands alone
    annotations = [
        {
            "name": span(text, "New York Times") if text == texts[0] else span(text, "London"),
            "place": span(text, "New York"),
        }
        for text in batch.texts
    ]
    names = ["place", "name"] if inner_first else ["name", "place"]
    spans = SpanTable.build(annotations, names)
    plan = MaskPlan(spans, np.array([[Action.SHARED, Action.SHARED]], dtype=np.int8))
    bound: Any = parse(f"comet('{found.folder}', device='cpu')").bind(testset)
    (scores,) = bound.masked(batch, plan)
    # "New York" stays with the candidate's states, "Times" goes, and "London" comes
    changed = [{"word": span(text, "Times") + span(text, "London")} for text in batch.texts]
    vectors = _Vectors(bound, batch, changed, largest=False)
    kept, _ = vectors.parts(int(batch.candidates[0, 0]), "word")
    other = int(batch.references[0][0])
    rows = [kept, vectors.parts(other, "word")[1]["London"]]
    fixed = [vectors.whole(int(batch.sources[0])), vectors.whole(other)]
    sides = [one[None] for one in (vectors.pool(rows), *fixed)]
    assert scores[0, 0] == pytest.approx(float(bound.head(bound.features(*sides))[0]), abs=1e-5)
