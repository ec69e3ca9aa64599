"""MuLER on test sets: hand-computed cases, an independent straightforward program, properties."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from typing import Any

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon.core.errors import DataError, UnknownNameError, UsageError

ANIMAL = {"animal": "cat|dog|horse"}
WORDS = ["the", "cat", "dog", "horse", "sat", "ran", "home", "red", "on", "a"]


def _muler(testset: gn.TestSet, metric: Any = "bleu", **more: Any) -> dict[tuple, dict[str, Any]]:
    found = gn.muler(testset, metric, ["re:animal"], pattern=ANIMAL, **more)
    return {(r["system"], r["variant"]): dict(r) for r in found.rows}


def _sentences(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(3, 9))) for _ in range(count)]


def test_a_hand_computed_case_under_rouge() -> None:
    testset = gn.TestSet.from_lists(
        {"s": ["the cat sat", "a horse ran home"]}, ["the dog sat", "a horse ran off"]
    )
    row = _muler(testset, "rouge1")["s", "ratio"]
    # segment 1: base 2/3, oracle 1, anti-oracle 2/3; segment 2: base 3/4, oracle 3/4, anti 2/4
    assert row["segments"] == 2
    assert row["base"] == pytest.approx((2 / 3 + 3 / 4) / 2)
    assert row["oracle"] == pytest.approx((1 + 3 / 4) / 2)
    assert row["anti_oracle"] == pytest.approx((2 / 3 + 2 / 4) / 2)
    assert row["muler"] == pytest.approx((1 / 3) / (1 / 3 + 1 / 4))
    clipped = _muler(testset, "rouge1")["s", "segment-clipped"]
    assert clipped["muler"] == pytest.approx((1 + 0) / 2)
    assert (row["add"], row["miss"], row["hit"]) == (0, 0, 1)


def _masked(text: str, mask: str) -> str:
    return " ".join(mask if re.fullmatch("cat|dog|horse", w) else w for w in text.split())


def _straightforward(candidates: list[str], references: list[str]) -> tuple[float, float, float]:
    """Mask words of a plain token list and call sacreBLEU for every text."""
    both = [
        (c, r)
        for c, r in zip(candidates, references, strict=True)
        if re.search("cat|dog|horse", c) and re.search("cat|dog|horse", r)
    ]

    def mean(mask_candidate: str | None, mask_reference: str | None) -> float:
        scores = [
            sacrebleu.sentence_bleu(
                c if mask_candidate is None else _masked(c, mask_candidate),
                [r if mask_reference is None else _masked(r, mask_reference)],
            ).score
            for c, r in both
        ]
        return sum(scores) / len(scores)

    return mean(None, None), mean("XMASK", "XMASK"), mean("XCAND", "XREF")


def test_bleu_equals_the_straightforward_program() -> None:
    references = _sentences(1, 60)
    systems = {"a": _sentences(2, 60), "b": [*references[:30], *_sentences(3, 30)]}
    found = _muler(gn.TestSet.from_lists(systems, references))
    for name, candidates in systems.items():
        row = found[name, "ratio"]
        expected = _straightforward(candidates, references)
        assert (row["base"], row["oracle"], row["anti_oracle"]) == pytest.approx(expected, abs=1e-9)
        base, oracle, anti = expected
        assert row["muler"] == pytest.approx((oracle - base) / (oracle - anti), abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "best"), [("bleu", 100), ("chrf", 100), ("rougeL", 1), ("ter", 0)]
)
def test_a_candidate_equal_to_its_reference_gives_base_equal_to_max_and_best(
    metric: str, best: float
) -> None:
    texts = ["the cat sat on the red mat today", "dog ran home to the big house", "cat dog horse"]
    row = _muler(gn.TestSet.from_lists({"s": texts}, texts), metric)["s", "ratio"]
    assert row["base"] == pytest.approx(best)
    assert row["oracle"] == pytest.approx(best)
    assert row["muler"] == pytest.approx(0)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "rouge1", "ter"])
def test_a_feature_that_never_occurs_is_undefined_and_changes_nothing(metric: str) -> None:
    testset = gn.TestSet.from_lists({"s": ["the hen sat"]}, ["the cow sat"])
    row = _muler(testset, metric)["s", "ratio"]
    assert row["segments"] == 0
    assert row["muler"] is None
    assert row["base"] is None
    assert row["base_all"] == pytest.approx(gn.score(testset, metric).segments.mean())
    assert (row["add"], row["miss"], row["hit"]) == (0, 0, 0)


def test_error_rates_are_oriented_and_shown_in_their_own_units() -> None:
    testset = gn.TestSet.from_lists(
        {"s": ["the cat sat", "a dog ran"]}, ["the dog sat", "a dog sat"]
    )
    row = _muler(testset, "ter")["s", "ratio"]
    # edits 1/3 and 1/3; oracle 0 and 1/3; anti-oracle 1/3 and 2/3
    assert row["base"] == pytest.approx(100 / 3)
    assert row["oracle"] == pytest.approx(100 / 6)
    assert row["anti_oracle"] == pytest.approx(50)
    assert row["muler"] == pytest.approx(0.5)
    assert row["gain"] == pytest.approx(100 / 6)
    assert row["spread"] == pytest.approx(100 / 3)


def test_every_reference_is_masked_and_the_candidate_scored_against_all() -> None:
    testset = gn.TestSet.from_lists({"s": ["the cat sat"]}, [["a dog ran", "the horse sat"]])
    row = _muler(testset, "rouge1")["s", "ratio"]
    assert row["oracle"] == pytest.approx(1.0)
    assert row["anti_oracle"] == pytest.approx(2 / 3)
    assert row["hit"] == 1


def test_segments_above_their_oracle_are_kept_flagged_and_listed() -> None:
    # the candidate has the reference's animal and one more: masked, the order of words is lost
    testset = gn.TestSet.from_lists(
        {"s": ["cat dog x y z w", "x y"]}, ["x cat y z w v cat", "dog x"]
    )
    found = gn.muler(testset, "rouge1", ["re:animal"], pattern={"animal": "cat|w v cat"})
    row = found.rows[0]
    assert row["outside"] is True
    assert row["muler"] < 0 or row["muler"] > 1
    listed = found.table("negative").rows
    assert len(listed) == row["negative"]


letters = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
segments = st.lists(st.tuples(letters, letters, letters), min_size=1, max_size=5)


@given(segments)
def test_permuting_systems_permutes_results(rows: list[tuple[str, str, str]]) -> None:
    first, second, references = (list(column) for column in zip(*rows, strict=True))
    forward = _muler(gn.TestSet.from_lists({"a": first, "b": second}, references), "chrf")
    backward = _muler(gn.TestSet.from_lists({"b": second, "a": first}, references), "chrf")
    assert forward == backward


@given(segments)
def test_the_order_of_oracle_and_anti_oracle_holds_for_rouge(
    rows: list[tuple[str, str, str]],
) -> None:
    first, _, references = (list(column) for column in zip(*rows, strict=True))
    row = _muler(gn.TestSet.from_lists({"a": first}, references), "rouge1")["a", "ratio"]
    if row["segments"]:
        assert row["oracle"] >= row["anti_oracle"]
        assert row["base"] >= row["anti_oracle"] - 1e-12


def _shared_words(candidate: str, reference: str) -> float:
    """Clipped unigram F, as ROUGE-1 of words in small letters."""
    left, common = reference.split(), 0
    for word in candidate.split():
        if word in left:
            left.remove(word)
            common += 1
    return 2 * common / (len(candidate.split()) + len(reference.split()))


def test_a_function_is_masked_by_text_and_gives_what_the_built_in_metric_gives() -> None:
    testset = gn.TestSet.from_lists({"a": _sentences(5, 20)}, _sentences(6, 20))
    own = gn.metric(_shared_words, name="own")
    by_text, built_in = _muler(testset, own), _muler(testset, "rouge1")
    for key, row in by_text.items():
        for name in ("segments", "muler", "base", "oracle", "anti_oracle"):
            assert row[name] == pytest.approx(built_in[key][name]), name


def test_a_metric_that_cannot_tell_masks_apart_gets_an_error_never_a_number() -> None:
    testset = gn.TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    own = gn.metric(lambda candidate, reference: len(candidate) / len(reference), name="length")
    with pytest.raises(gn.errors.MaskingError, match="oracle equals anti-oracle under length"):
        _muler(testset, own)


def test_slices_add_rows_and_leave_those_of_the_whole_alone() -> None:
    testset = gn.TestSet.from_lists(
        {"a": _sentences(7, 12)}, _sentences(8, 12), domains=["x", "y", "y"] * 4
    )
    whole = gn.muler(testset, "bleu", ["re:animal"], pattern=ANIMAL).rows
    sliced = gn.muler(testset, "bleu", ["re:animal"], pattern=ANIMAL, by="domain").rows
    assert [r for r in sliced if r["slice"] is None] == list(whole)
    for variant in ("ratio", "segment-clipped"):
        counts = [r["segments"] for r in sliced if r["variant"] == variant]
        assert counts[0] == sum(counts[1:])


def test_lengths_of_character_masks_stand_in_the_signature() -> None:
    testset = gn.TestSet.from_lists({"a": ["the horse sat"]}, ["the cat sat"])
    found = gn.muler(testset, "chrf", ["re:animal"], pattern=ANIMAL)
    assert "L:re=animal=3" in str(found.signatures["chrf"])


def test_several_metrics_have_rows_and_signatures_of_their_own() -> None:
    testset = gn.TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    found = gn.muler(testset, ["bleu", "chrf"], ["re:animal"], pattern=ANIMAL)
    assert list(found.signatures) == ["bleu", "chrf"]
    assert {r["metric"] for r in found.rows} == {"bleu", "chrf"}


def test_exhibits_show_the_costliest_segments_with_their_spans() -> None:
    testset = gn.TestSet.from_lists(
        {"a": ["the cat sat", "x y"], "b": ["the dog sat", "x y"]},
        ["the dog sat", "x y"],
        documents=["one", "two"],
    )
    found = gn.muler(testset, "bleu", ["re:animal"], pattern=ANIMAL)
    (exhibit,) = found.exhibits
    assert (exhibit.group, exhibit.segment, exhibit.document) == ("re:animal", 1, "one")
    assert exhibit.systems == ("a",)
    marked = {t.name: [t.text[h.start : h.end] for h in t.highlights] for t in exhibit.texts}
    assert marked == {"A": ["dog"], "a": ["cat"], "b": ["dog"]}


def test_exhibits_are_ordered_by_what_they_cost() -> None:
    testset = gn.TestSet.from_lists({"a": _sentences(9, 30)}, _sentences(10, 30))
    found = gn.muler(testset, "bleu", ["re:animal"], pattern=ANIMAL, examples=5)
    assert all(x.weight >= y.weight for x, y in pairwise(found.exhibits))
    assert len(found.exhibits) == 5


def test_rows_are_flat_records_with_the_fields_of_the_contract() -> None:
    testset = gn.TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    found = gn.muler(testset, "bleu", ["re:animal"], pattern=ANIMAL)
    contract = (
        "system metric feature variant segments muler base base_all oracle anti_oracle add miss hit"
    )
    assert set(contract.split()) <= set(found.rows[0])
    assert found.to_frame().height == 2
    assert {r["variant"] for r in found.rows} == {"ratio", "segment-clipped"}


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"by": "domain"}, UsageError, r"documents\.tsv"),
        ({"by": "colour"}, UnknownNameError, "length"),
        ({"variants": ["both"]}, UsageError, "segment-clipped"),
        ({"features": ["pos:NOUN"]}, UsageError, "tagger|language"),
        ({"features": ["re:plant"]}, UnknownNameError, "animal"),
        ({"metrics": ["bleu", "bleu"]}, UsageError, "twice"),
        ({"metrics": []}, UsageError, "one or more; got none"),
    ],
)
def test_wrong_requests_say_what_is_allowed(
    options: dict[str, Any], error: type[Exception], said: str
) -> None:
    testset = gn.TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    request = {"metrics": "bleu", "features": ["re:animal"], "pattern": ANIMAL, **options}
    with pytest.raises(error, match=said):
        gn.muler(testset, **request)


def test_a_test_set_without_systems_is_refused() -> None:
    testset = gn.TestSet("empty", {"A": ["x"]}, {})
    with pytest.raises(DataError, match="no system outputs"):
        gn.muler(testset, "bleu", ["re:animal"], pattern=ANIMAL)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"masking": gn.muler.Masks(granularity="word")}, "token, span"),
        ({"masking": gn.muler.Masks(overlap="some")}, "any, majority, inside"),
        ({"masking": "span"}, "did you mean 'spans'"),
        ({"examples": -1}, "0 or more"),
        ({"features": "re:animal"}, "list of texts"),
    ],
)
def test_options_are_checked_before_any_work(options: dict[str, Any], said: str) -> None:
    testset = gn.TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    request = {"features": ["re:animal"], "pattern": ANIMAL, **options}
    with pytest.raises(UsageError, match=said):
        gn.muler(testset, "bleu", **request)


def test_a_function_that_fails_is_named_with_its_fault() -> None:
    testset = gn.TestSet.from_lists({"a": ["the cat"]}, ["the dog"])

    def broken(candidate: str, reference: str) -> float:
        return len(candidate) / (len(reference) - len(reference))

    own = gn.metric(broken, name="broken")
    with pytest.raises(gn.errors.ScoringError, match="ZeroDivisionError"):
        _muler(testset, own)
