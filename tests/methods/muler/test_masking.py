"""What stands for a feature's words: mask words of a metric's own kind, masks in place, words."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest
import sacrebleu
from tests.methods.muler.experiments import hybrids, parts, random_words
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import GnomonError, MaskingError, UsageError
from gnomon.muler import Masks

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.metrics.masking import Granularity

ANIMALS = ["cat", "dog", "horse", "cow"]
ANIMAL = {"animal": r"\b(cat|dog|horse|cow)\b"}
WORDS = [*ANIMALS, "the", "sat", "ran", "home", "red", "on"]
HAND = gn.TestSet.from_lists(
    {"s": ["the cat sat", "a horse ran home"]}, ["the dog sat", "a horse ran off"]
)


def _sentences(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(4, 9))) for _ in range(count)]


def _testset(count: int = 20) -> gn.TestSet:
    outputs = {"a": _sentences(1, count), "b": _sentences(2, count)}
    return gn.TestSet.from_lists(outputs, _sentences(3, count), language_pair="de-en")


def _muler(testset: gn.TestSet, metric: Any, **more: Any) -> gn.Finding:
    return gn.muler(
        testset, metric, ["re:animal"], pattern=ANIMAL, variants=["ratio"], resamples=0, **more
    )


def _row(found: gn.Finding, system: str = "s") -> dict[str, Any]:
    return next(dict(row) for row in found if row["system"] == system)


def known_words(candidate: str, reference: str) -> float:
    """Half for words of a language, half for words that the reference has: thinks little of masks.

    A text of n words with m masks that agree scores 1/2 (n - m)/n + 1/2 beside itself.
    """
    own, other = candidate.split(), reference.split()
    known = sum(word in (*WORDS, "a", "off") for word in own) / max(1, len(own))
    return known / 2 + len(set(own) & set(other)) / max(1, len(set(other))) / 2


class TestMetricsThatThinkLittleOfMasks:
    def test_they_have_a_muler_by_hand(self) -> None:
        row = _row(_muler(HAND, known_words))
        # "the M sat": 2/3 of its words known; 3/3 or 2/3 of the reference's words found
        assert row["oracle"] == pytest.approx((1 / 3 + 1 / 2 + 3 / 8 + 3 / 8) / 2)
        assert row["anti_oracle"] == pytest.approx((1 / 3 + 1 / 3 + 3 / 8 + 2 / 8) / 2)
        assert row["base"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 2 + 3 / 8) / 2)
        top, bottom = row["oracle"], row["anti_oracle"]
        assert row["muler"] == pytest.approx((top - row["base"]) / (top - bottom))

    def test_a_notice_tells_how_far_the_oracle_stays_below_identical_texts(self) -> None:
        (notice,) = (one for one in notes(_muler(HAND, known_words).notices) if "identical" in one)
        # every third word of 3 and of 4 is masked: 1 of 3, 2 of 4
        alike = ((2 / 3 + 1) / 2 + (2 / 4 + 1) / 2) / 2
        assert f"worse than identical texts ({alike:.4g} and 1, on 2 references" in notice
        assert not any("identical" in one for one in notes(_muler(HAND, "rouge1").notices))

    def test_a_metric_that_loves_masks_is_told_of(self) -> None:
        def loving(candidate: str, reference: str) -> float:
            return candidate.count("qzqzqz") + float(candidate == reference)

        found = _muler(
            HAND, gn.metric(loving, name="loving"), masking=Masks(words=["qzqzqz", "xj", "vk"])
        )
        assert any("out of reach of any words" in one for one in notes(found.notices))

    def test_scores_at_random_are_refused_though_masks_change_them(self) -> None:
        with pytest.raises(MaskingError, match="does not score texts that are masked alike above"):
            _muler(_testset(), "random")

    @pytest.mark.parametrize("count", [4, 12])
    def test_what_a_metric_froze_for_each_segment_is_met_there(self, count: int) -> None:
        testset = _testset(12).select(segments=range(count))
        found = _muler(testset, "bmx(difficulty(rouge1), explainer='erasure', p=1, w=.5)")
        assert all(row["muler"] is not None for row in found)

    def test_the_words_of_masks_are_named(self) -> None:
        words = ["thing", "stuff", "matter"]
        found = _muler(HAND, known_words, masking=Masks(words=words))
        assert "mask:thing|" in str(found.signatures["known_words"])
        assert _row(found)["muler"] == _row(_muler(HAND, known_words))["muler"]

    @pytest.mark.parametrize(
        ("words", "more", "said"),
        [
            (["one", "two"], {}, "three different words"),
            (["one", "One", "two"], {}, "three different words"),
            (["one", "two", "a b"], {}, "without white space"),
            (["cat", "two", "three"], {}, "occurs in a text"),
            (["one", "two", "three"], {"kind": "substitute"}, "leave one of the two out"),
        ],
    )
    def test_words_that_will_not_do_are_refused(
        self, words: list[str], more: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(GnomonError, match=said):
            _muler(HAND, known_words, masking=Masks(words=words, **more))

    def test_metrics_with_masks_of_their_own_say_that_they_take_no_words(self) -> None:
        found = _muler(HAND, "bleu", masking=Masks(words=["one", "two", "three"]))
        assert any("bleu masks its own tokens" in one for one in notes(found.notices))
        placed = _muler(HAND, "bleu", masking=Masks("in-place", words=["one", "two", "three"]))
        assert not any("masks its own tokens" in one for one in notes(placed.notices))


class TestInPlace:
    def test_masks_stand_for_the_words_and_not_for_the_tokens_around_them(self) -> None:
        candidate, reference = "a well-known red dog sat down", "a badly-known red cat sat down"
        testset = gn.TestSet.from_lists({"s": [candidate]}, [reference])

        def bleu(mask: str, other: str) -> float:
            own = f"a well- {mask} red {mask} sat down"
            its = f"a badly- {other} red {other} sat down"
            return float(sacrebleu.sentence_bleu(own, [its]).score)

        found = gn.muler(
            testset, "bleu", ["re:some"], pattern={"some": "known|dog|cat"}, resamples=0,
            masking=Masks("in-place", words=["qqq", "xxx", "yyy"]),
        )  # fmt: skip
        row = _row(found)
        assert row["oracle"] == pytest.approx(bleu("qqq", "qqq"))
        assert row["anti_oracle"] == pytest.approx(bleu("xxx", "yyy"))
        # on tokens, the whole of well-known and of badly-known is masked
        tokens = gn.muler(
            testset, "bleu", ["re:some"], pattern={"some": "known|dog|cat"}, resamples=0
        )
        assert _row(tokens)["oracle"] == pytest.approx(100)
        assert row["oracle"] < 100
        assert "masking:in-place|mask:qqq" in str(found.signatures["bleu"])
        assert "overlap" not in str(found.signatures["bleu"])

    def test_it_equals_masks_on_tokens_where_words_are_tokens(self) -> None:
        testset = _testset()
        rows = [list(_muler(testset, "bleu", masking=one)) for one in ("tokens", "in-place")]
        for plain, placed in zip(*rows, strict=True):
            for name in ("base", "oracle", "anti_oracle", "muler"):
                assert placed[name] == pytest.approx(plain[name], abs=1e-9)

    def test_one_mask_per_word_or_per_span(self) -> None:
        seen: list[tuple[str, str]] = []

        def note(candidate: str, reference: str) -> float:
            seen.append((candidate, reference))
            return float(candidate == reference)

        testset = gn.TestSet.from_lists({"s": ["see New York now"]}, ["see New York then"])
        both: tuple[tuple[Granularity, str], ...] = (
            ("token", "see mm mm now"),
            ("span", "see mm now"),
        )
        for granularity, masked in both:
            seen.clear()
            gn.muler(
                testset, gn.metric(note, name="note"), ["re:city"], pattern={"city": "New York"},
                masking=Masks("in-place", granularity=granularity, words=["mm", "kk", "ff"]),
                resamples=0,
            )  # fmt: skip
            assert masked in {candidate for candidate, _ in seen}


class TestSubstitutes:
    def test_a_hand_computed_case_under_rouge(self) -> None:
        row = _row(_muler(HAND, "rouge1", masking="substitute"))
        # cat -> dog, and to the other reference's horse; horse stays, and becomes dog
        assert row["base"] == pytest.approx((2 / 3 + 3 / 4) / 2)
        assert row["oracle"] == pytest.approx((1 + 3 / 4) / 2)
        assert row["anti_oracle"] == pytest.approx((2 / 3 + 2 / 4) / 2)
        assert row["muler"] == pytest.approx((1 / 3) / (1 / 3 + 1 / 4))

    def test_spans_with_an_equal_word_keep_it_and_the_others_take_what_is_left(self) -> None:
        seen = _texts_seen(
            gn.TestSet.from_lists(
                {"s": ["a dog and a cat and a cow", "x"]}, ["the cat , the horse", "a cow"]
            )
        )
        # cat has its cat, dog takes the horse, cow has no counterpart
        assert "a horse and a cat and a cow" in seen
        assert "a cow and a cow and a cow" in seen

    def test_oracles_equal_a_straightforward_program_on_many_sentences(self) -> None:
        testset = _testset(60)
        references = [str(text) for text in testset.references["A"]]
        for row in _muler(testset, "bleu", masking="substitute"):
            scores = [
                sacrebleu.sentence_bleu(_mended(c, r), [r]).score
                for c, r in zip(testset.systems[str(row["system"])], references, strict=True)
                if set(ANIMALS) & set(c.split()) and set(ANIMALS) & set(r.split())
            ]
            assert row["segments"] == len(scores)
            assert row["oracle"] == pytest.approx(sum(scores) / len(scores), abs=1e-9)

    def test_words_from_elsewhere_are_those_of_other_references_and_never_of_these(self) -> None:
        testset = _testset(40)
        references = [str(text) for text in testset.references["A"]]
        pairs: list[tuple[str, str]] = []

        def note(candidate: str, reference: str) -> float:
            pairs.append((candidate, reference))
            return 1.0

        _muler(testset, gn.metric(note, name="note"), masking="substitute")
        plain = {*testset.systems["a"], *testset.systems["b"]}
        anti = 0
        for candidate, reference in pairs:
            animals = [word for word in candidate.split() if word in ANIMALS]
            own = {word for word in reference.split() if word in ANIMALS}
            assert reference in references
            if candidate not in plain and not own & set(animals):
                anti += 1
                assert set(animals) <= set(ANIMALS) - own
        assert anti > 20

    def test_numbers_depend_on_the_seed_and_on_no_other_system(self) -> None:
        def long(candidate: str, reference: str) -> float:
            return len(candidate) / len(reference)

        found = {
            (seed, systems): _row(
                _muler(
                    _testset().select(systems=list(systems)), gn.metric(long, name="long"),
                    masking="substitute", seed=seed,
                ),
                "b",
            )
            for seed, systems in ((12345, "ab"), (12345, "b"), (7, "ab"))
        }  # fmt: skip
        whole, alone, other = found.values()
        assert whole == alone
        assert other["oracle"] == whole["oracle"]
        assert other["anti_oracle"] != whole["anti_oracle"]

    def test_a_metric_that_never_sees_the_reference_has_a_muler(self) -> None:
        def fluent(candidate: str, source: str) -> float:
            return float("cat" in candidate and "chat" in source)

        testset = gn.TestSet.from_lists(
            {"s": ["the dog sat", "a horse"]},
            ["the cat sat", "a cow"],
            sources=["le chat", "vache"],
        )
        with pytest.raises(MaskingError, match="oracle equals anti-oracle"):
            _muler(testset, gn.metric(fluent, name="fluent"))
        row = _row(_muler(testset, gn.metric(fluent, name="fluent"), masking="substitute"))
        assert (row["base"], row["oracle"], row["anti_oracle"]) == (0, 0.5, 0)

    @pytest.mark.parametrize("experiment", [hybrids, parts])
    def test_experiments_take_it(self, experiment: Callable[..., gn.Finding]) -> None:
        found = experiment(
            _testset(60), "rouge1", ["re:animal"], pattern=ANIMAL, masking="substitute"
        )
        assert "masking:substitute" in str(found.signatures["rouge1"])
        values = [row["muler"] for row in found if row["muler"] is not None]
        assert values

    def test_hybrids_rise_from_the_anti_oracle_to_the_oracle(self) -> None:
        found = hybrids(
            _testset(200), "rouge1", ["re:animal"], pattern=ANIMAL, masking="substitute",
            shares=[0.2, 0.5, 1.0],
        )  # fmt: skip
        for row, after in itertools.pairwise(found):
            assert row["position"] <= after["position"] or after["alpha"] == 0.2
        for row in found:
            if row["alpha"] == 1:
                assert row["hybrid"] == row["oracle"]

    def test_random_words_may_be_substituted_too(self) -> None:
        found = random_words(
            _testset(30), "rouge1", ["re:animal"], pattern=ANIMAL, masking="substitute", draws=3,
            groups=[2],
        )  # fmt: skip
        assert all(row["draws"] for row in found)


def _texts_seen(testset: gn.TestSet) -> set[str]:
    seen: list[str] = []

    def note(candidate: str, reference: str) -> float:  # its name says what it is
        seen.append(candidate)
        return 1.0

    _muler(testset, gn.metric(note, name="note"), masking="substitute")
    return set(seen)


def _mended(candidate: str, reference: str) -> str:
    """The candidate with the reference's animals, written anew."""
    words, left = candidate.split(), [w for w in reference.split() if w in ANIMALS]
    open_places = []
    for place, word in enumerate(words):
        if word in ANIMALS:
            if word in left:
                left.remove(word)
            else:
                open_places.append(place)
    for place, word in zip(open_places, left, strict=False):
        words[place] = word
    return " ".join(words)


class TestLongMasks:
    CHINESE = gn.TestSet.from_lists(
        {"s": ["我今天在学校看书吃苹果", "他们昨天去公园玩"]},
        ["我今天在学校读书吃香蕉", "他们昨天去公园散步"],
        language_pair="en-zh",
    )

    @pytest.mark.parametrize(
        ("metric", "remedy"),
        [
            ("ter(tokenize='tercom')", "tokens that fit the language"),
            ("ter", ""),
            ("chrf", ""),
            ("bleu(tokenize='13a')", "tokens that fit the language"),
            ("bleu", ""),
            ("ter(normalized=True, asian_support=True)", ""),
        ],
    )
    def test_a_mask_that_takes_the_sentence_along_is_told_of(
        self, metric: str, remedy: str
    ) -> None:
        found = gn.muler(
            self.CHINESE, metric, ["re:food"], pattern={"food": "书|苹果|香蕉"}, resamples=0
        )
        said = [one for one in notes(found.notices) if "longer than the words" in one]
        assert len(said) == bool(remedy)
        assert all(remedy in one and "matches of 'food'" in one for one in said)

    def test_words_that_are_tokens_are_not(self) -> None:
        found = _muler(_testset(), "ter")
        assert not any("longer" in one for one in notes(found.notices))


def test_a_named_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="in-place"):
        _muler(HAND, "bleu", masking="inplace")
