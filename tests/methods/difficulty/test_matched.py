"""Difficulty weights of matching metrics against their definition in plain loops."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, SpecError, UsageError
from gnomon.core.spans import SpanTable
from gnomon.difficulty import Difficulty
from gnomon.difficulty.matched import UnweightedMatches
from gnomon.metrics import BertScore, MaskPlan, parse
from gnomon.models import load_encoder

if TYPE_CHECKING:
    from gnomon.difficulty import BoundDifficulty

pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

SYSTEMS = {
    "a": ["the cat sat .", "unbelievable !", "", "a dog on the mat", "the cat the dog the"],
    "b": ["a cat sat on mat", "the dog sat", "house", "a dog on the mat", "dog"],
    "c": ["the cat sat on the mat .", "un able", "a mat", "dog", "the cat sat"],
}
REFERENCES = [
    ["the cat sat on the mat ."],
    ["an unbelievable dog"],
    ["a house"],
    ["a dog on the mat"],
    ["the cat the dog the house the"],
]
SECOND = [["a cat"], ["un able"], ["the mat"], ["a dog , on the mat ."], ["house"]]


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, REFERENCES, language_pair="en")


@pytest.fixture
def options(tiny_model: Path) -> dict[str, Any]:
    return {"model": str(tiny_model), "layer": 2, "device": "cpu"}


def _bound(testset: gn.TestSet, options: dict[str, Any], **more: Any) -> BoundDifficulty:
    more.setdefault("rescale", False)  # the equations, on plain cosines
    return Difficulty(BertScore(**options), **more).bind(testset)  # type: ignore[return-value]  # BERTScore matches tokens


class Loops:
    """The equations, token by token."""

    def __init__(self, options: dict[str, Any], *, special: bool = False) -> None:
        self.encoder = load_encoder(options["model"], layer=options["layer"], device="cpu")
        self.special = special

    def best(self, candidate: str, reference: str) -> tuple[list[Any], list[Any]]:
        """(type, best similarity) of the plain tokens of both sides."""
        pieces = self.encoder.pieces([candidate, reference])
        vectors = self.encoder.embed(pieces, np.arange(2)).vectors.numpy()
        split = int(pieces.offsets[1])
        sim = vectors[:split] @ vectors[split:].T
        plain = ~pieces.special
        rows = np.flatnonzero(plain[:split])
        columns = np.flatnonzero(plain[split:])
        over = (
            [np.arange(split), np.arange(len(plain) - split)] if self.special else [rows, columns]
        )
        h = [
            (int(pieces.ids[i]), max((float(sim[i, j]) for j in over[1]), default=0)) for i in rows
        ]
        t = [
            (int(pieces.ids[split + j]), max((float(sim[i, j]) for i in over[0]), default=0))
            for j in columns
        ]
        return h, t

    def difficulty(self, pool: list[str], reference: str) -> list[tuple[int, float]]:
        found = [self.best(candidate, reference)[1] for candidate in pool]
        return [
            (type_, 1 - sum(row[j][1] for row in found) / len(found))
            for j, (type_, _) in enumerate(found[0])
        ]

    def parts(
        self, candidate: str, reference: str, d: list[tuple[int, float]]
    ) -> tuple[float, float]:
        h, t = self.best(candidate, reference)
        if not h or not t:
            return 0.0, 0.0
        recall = sum(w * s for (_, w), (_, s) in zip(d, t, strict=True)) / len(t)
        weight = {
            type_: np.mean([w for other, w in d if other == type_]) for type_ in {t for t, _ in d}
        }
        precision = sum(float(weight.get(type_, 1.0)) * s for type_, s in h) / len(h)
        return precision, recall


def _f(p: float, r: float, beta: float = 1.0) -> float:
    return 0.0 if p == r == 0 else (1 + beta**2) * p * r / (beta**2 * p + r)


@pytest.mark.parametrize("special", ["exclude", "match"])
@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_scores_are_those_of_the_equations(testset, options, special, beta) -> None:
    bound = _bound(testset, options, special=special, beta=beta)
    loops = Loops(options, special=special == "match")
    expected = np.zeros((3, 5, 3))
    for i, [reference] in enumerate(REFERENCES):
        d = loops.difficulty([texts[i] for texts in SYSTEMS.values()], reference)
        for k, texts in enumerate(SYSTEMS.values()):
            p, r = loops.parts(texts[i], reference, d)
            expected[k, i] = p, r, _f(p, r, beta)
    found = bound.score_parts(testset.batch())
    assert np.allclose(found, expected, atol=2e-6)
    assert np.allclose(bound.segments(testset.batch()), expected[..., 2], atol=2e-6)
    means = expected.mean(axis=1)
    system = [_f(p, r, beta) for p, r, _ in means]  # not the mean of the segments' F
    assert np.allclose(bound.system(testset.batch()), system, atol=2e-6)
    assert not np.allclose(system, expected[..., 2].mean(axis=1), atol=1e-4)


def test_a_system_that_is_left_out_does_not_judge_itself(testset, options) -> None:
    bound = _bound(testset, options, leave_one_out=True, pool=("a", "b"))
    loops = Loops(options)
    found = bound.score_parts(testset.batch())
    for k, (name, texts) in enumerate(SYSTEMS.items()):
        pool = [other for other in ("a", "b") if other != name]
        for i, [reference] in enumerate(REFERENCES):
            d = loops.difficulty([SYSTEMS[other][i] for other in pool], reference)
            assert found[k, i, :2] == pytest.approx(loops.parts(texts[i], reference, d), abs=2e-6)


def test_of_several_references_the_best_by_f_counts_whole(options) -> None:
    both = [first + second for first, second in zip(REFERENCES, SECOND, strict=True)]
    testset = gn.TestSet.from_lists(SYSTEMS, both, language_pair="en")
    loops = Loops(options)
    found = _bound(testset, options).score_parts(testset.batch())
    for i, references in enumerate(both):
        pool = [texts[i] for texts in SYSTEMS.values()]
        hardness = [loops.difficulty(pool, reference) for reference in references]
        for k, texts in enumerate(SYSTEMS.values()):
            parts = [
                loops.parts(texts[i], reference, d)
                for reference, d in zip(references, hardness, strict=True)
            ]
            best = max(parts, key=lambda part: _f(*part))
            assert found[k, i] == pytest.approx((*best, _f(*best)), abs=2e-6)


def test_full_smoothing_makes_the_words_of_a_reference_weigh_alike(testset, options) -> None:
    bound = _bound(testset, options, smooth=1.0, pool=("c",))
    loops = Loops(options)
    [reference] = REFERENCES[4]
    d = loops.difficulty([SYSTEMS["c"][4]], reference)
    mean = float(np.mean([w for _, w in d]))
    expected = loops.parts(SYSTEMS["a"][4], reference, [(t, mean) for t, _ in d])
    assert bound.score_parts(testset.batch())[0, 4, :2] == pytest.approx(expected, abs=2e-6)


def test_a_word_that_all_get_right_weighs_nothing(options) -> None:
    same = {name: ["a dog on the mat"] for name in "abc"}
    testset = gn.TestSet.from_lists(same, [["a dog on the mat"]], language_pair="en")
    bound = _bound(testset, options)
    assert np.allclose(bound.hardness.value, 0, atol=1e-6)
    assert np.allclose(bound.system(testset.batch()), 0, atol=1e-6)


def test_equal_texts_of_two_segments_have_their_own_difficulties(options) -> None:
    systems = {"a": ["the cat sat", "the cat sat"], "b": ["the cat sat", "house"]}
    testset = gn.TestSet.from_lists(systems, [["the cat sat"]] * 2, language_pair="en")
    found = _bound(testset, options).segments(testset.batch())
    assert found[0, 0] == pytest.approx(0, abs=1e-6)  # nobody missed anything
    assert found[0, 1] > 0.01


def _unweighted(testset, options, **more) -> UnweightedMatches:
    bound = _bound(testset, options, **more)
    return UnweightedMatches(bound.metric, bound.base)


def test_texts_are_encoded_once_for_base_and_weights(testset, options) -> None:
    encoder = load_encoder(options["model"], layer=2, device="cpu")
    encoder.memory.clear()
    before = encoder.encoded
    bound = _bound(testset, options)
    bound.segments(testset.batch())
    UnweightedMatches(bound.metric, bound.base).score_parts(testset.batch())
    distinct = {text for texts in (*SYSTEMS.values(), *REFERENCES) for text in texts}
    assert encoder.encoded - before == len(distinct)


def test_base_and_weighted_scores_differ_in_the_weights_alone(testset, options) -> None:
    batch = testset.batch()
    excluded = BertScore(**options, special="exclude").bind(testset).score_parts(batch)
    assert np.allclose(_unweighted(testset, options).score_parts(batch), excluded, atol=1e-12)
    matched = BertScore(**options, special="match").bind(testset).score_parts(batch)
    own = _unweighted(testset, options, special="match").score_parts(batch)
    assert np.allclose(own, matched, atol=1e-12)
    assert not np.allclose(excluded, matched)


def test_muler_keeps_the_weights_of_the_plain_texts(testset, options) -> None:
    batch = testset.batch()
    bound = _bound(testset, options)
    marks = [{"noun": _places(text, ("cat", "dog", "mat"))} for text in batch.texts]
    spans = SpanTable.build(marks, ["noun"])
    oracle, anti = bound.masked(batch, MaskPlan.oracles(spans))
    base = bound.segments(batch)
    loops = Loops(options)
    # segment 4 of system a: "a dog on the mat" is the reference; dog and mat are masked
    [reference] = REFERENCES[3]
    d = loops.difficulty([texts[3] for texts in SYSTEMS.values()], reference)
    keep = [word not in ("dog", "mat") for word in reference.split()]
    weighed = sum(w for (_, w), kept in zip(d, keep, strict=True) if kept) / len(d)
    assert anti[0, 3] == pytest.approx(_f(weighed, weighed), abs=2e-6)
    full = sum(w for _, w in d) / len(d)
    assert oracle[0, 3] == pytest.approx(full, abs=2e-6)
    assert (oracle >= base - 1e-6).all()  # distances are of 32 bits
    assert (base >= anti - 1e-6).all()


def _places(text: str, words: tuple[str, ...]) -> list[tuple[int, int]]:
    found, at = [], 0
    for word in text.split(" "):
        if word in words:
            found.append((at, at + len(word)))
        at += len(word) + 1
    return found


def test_a_changed_reference_weighs_its_words_as_the_segment_does(testset, options) -> None:
    bound = _bound(testset, options)
    other = gn.TestSet.from_lists(
        {"a": SYSTEMS["a"]}, [["the cat sat on the"], *REFERENCES[1:]], language_pair="en"
    )
    loops = Loops(options)
    changed = "the cat sat on the"
    d = loops.difficulty([texts[0] for texts in SYSTEMS.values()], REFERENCES[0][0])
    mean = {type_: float(np.mean([w for t, w in d if t == type_])) for type_, _ in d}
    h, t = loops.best(SYSTEMS["a"][0], changed)
    precision = np.mean([mean.get(type_, 1.0) * best for type_, best in h])
    recall = np.mean([mean[type_] * best for type_, best in t])
    found = bound.score_parts(other.batch())[0, 0, :2]
    assert found == pytest.approx([precision, recall], abs=2e-6)


def test_segments_that_were_not_bound_are_refused(testset, options) -> None:
    bound = _bound(testset, options)
    longer = gn.TestSet.from_lists(
        {"a": [*SYSTEMS["a"], "dog"]}, [*REFERENCES, ["dog"]], language_pair="en"
    )
    with pytest.raises(DataError, match="no difficulties for segment 6"):
        bound.segments(longer.batch())


def test_the_spec_says_all_and_reads_back(tiny_model) -> None:
    spec = (
        f"difficulty(bertscore(model='{tiny_model}', layer=2), pool='top:30%', by='bleu', beta=2.0)"
    )
    metric = parse(spec)
    assert metric.spec == spec
    assert parse(metric.spec) == metric
    listed = parse("difficulty(bertscore, pool=['a', 'b'])")
    assert isinstance(listed, Difficulty)
    assert listed.pool == ("a", "b")


def test_the_signature_names_the_pool_and_hashes_its_outputs(testset, options) -> None:
    fields = dict(_bound(testset, options).signature.fields)
    changed = gn.TestSet.from_lists(
        {**SYSTEMS, "b": ["dog", *SYSTEMS["b"][1:]]}, REFERENCES, language_pair="en"
    )
    other = dict(_bound(changed, options).signature.fields)
    assert fields["pool"].startswith("3#")
    assert fields["pool"] != other["pool"]
    assert fields["chosen"] == "all 3 systems"
    assert fields["layer"] == "2"


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"beta": 0.0}, "beta is 0.0"),
        ({"smooth": 1.5}, "smooth is 1.5"),
        ({"range_one": True}, "range_one are options of the published code"),
        ({"frozen": "x.npz", "pool": "top:2"}, "bring their pool with them"),
        ({"by": "bleu"}, "is for a pool 'top"),
        ({"pool": "best"}, "'best' names no pool"),
        ({"pool": "top:0"}, "'top:0' names no pool"),
        ({"pool": "top:101%"}, "no more than 100 %"),
        ({"pool": ("a", "a")}, "each once"),
        ({"pool": ()}, "one system or more"),
    ],
)
def test_options_that_cannot_be_are_refused(more, error) -> None:
    with pytest.raises(UsageError, match=error):
        Difficulty(BertScore(), **more)
    assert issubclass(SpecError, UsageError)


def test_a_pool_of_one_cannot_leave_one_out(testset, options) -> None:
    with pytest.raises(UsageError, match="leaves no system to judge 'a'"):
        _bound(testset, options, pool=("a",), leave_one_out=True)
    notices = notes(_bound(testset, options, pool=("a",)).notices(testset.batch()))
    assert any("is one system, 'a'" in notice for notice in notices)


def test_what_is_weighed_already_is_not_weighed_again(testset) -> None:
    for spec in ("difficulty(difficulty(chrf))", "difficulty(bmx(difficulty(bleu), p=1, w=0.5))"):
        with pytest.raises(UsageError, match="weighed already"):
            parse(spec).bind(testset)


def test_similarities_of_a_function_keep_all_their_digits() -> None:
    def alike(candidate_tokens: list[str], reference_tokens: list[str]) -> list[list[float]]:
        return [
            [1.0 if a == b else len({*a} & {*b}) / (3 * len({*a} | {*b})) for b in reference_tokens]
            for a in candidate_tokens
        ]

    reference, outputs = "the cat sat on the mat", {"a": "a cat sits on a mat", "b": "the dog sat"}
    testset = gn.TestSet.from_lists({name: [o] for name, o in outputs.items()}, [reference])
    metric = gn.metric(alike, name="alike")
    for leave_one_out in (False, True):
        found = gn.score(testset, Difficulty(metric=metric, leave_one_out=leave_one_out))
        for k, name in enumerate(outputs):
            pool = [o for n, o in outputs.items() if not leave_one_out or n != name]
            words, own = reference.split(), outputs[name].split()
            best = [np.max(alike(o.split(), words), axis=0) for o in pool]
            d = 1 - np.mean(best, axis=0)
            types = {
                w: np.mean([x for v, x in zip(words, d, strict=True) if v == w]) for w in words
            }
            table = np.array(alike(own, words))
            recall = (d * table.max(axis=0)).mean()
            precision = np.mean([types.get(w, 1.0) for w in own] * table.max(axis=1))
            f = 2 * precision * recall / (precision + recall)
            assert found.segments[k, 0] == pytest.approx(f, rel=1e-13)
