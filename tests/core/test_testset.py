from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

import gnomon as gn
from gnomon import TestSet
from gnomon.core.errors import DataError, LengthMismatchError, UnknownNameError, UsageError
from gnomon.core.spans import ErrorSpan
from gnomon.core.testset import HumanScores, Paraphrase, Ranking, SystemInfo
from gnomon.metrics import score


def make(**parts: Any) -> TestSet:
    fixed: dict[str, Any] = {
        "name": "set",
        "references": {"A": ["one", "two"], "B": ["1", None]},
        "systems": {"s": ["one", ""], "t": ["x", "y"]},
        "sources": ["eins", "zwei"],
        "language_pair": "de-en",
    }
    return TestSet(**(fixed | parts))


def test_a_test_set_cannot_be_changed() -> None:
    texts = ["one", "two"]
    systems = {"s": texts}
    testset = make(systems=systems)
    texts[0] = "other"
    systems["t"] = ["a", "b"]
    assert dict(testset.systems) == {"s": ("one", "two")}
    with pytest.raises(TypeError):
        testset.systems["u"] = ("a", "b")  # type: ignore[index]  # the mistake under test
    with pytest.raises(FrozenInstanceError):
        testset.name = "other"  # type: ignore[misc]  # the mistake under test


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"systems": {"s": ["a"]}}, "system 's' has 1"),
        ({"references": {"A": ["a", "b"], "B": ["a"]}}, "reference 'B' has 1"),
        ({"sources": ["a"]}, "the source has 1"),
        ({"documents": ["a"]}, "the list of documents has 1"),
        ({"domains": ["a"]}, "the list of domains has 1"),
        ({"labels": {"genre": ["a"]}}, "the labels 'genre' has 1"),
        ({"system_references": {"s": {"P": ["a"]}}}, "reference 'P' of system 's' has 1"),
    ],
)
def test_parts_of_unequal_length_are_refused_by_name(parts: dict[str, Any], named: str) -> None:
    with pytest.raises(LengthMismatchError, match=f"reference 'A' has 2 segments, {named}"):
        make(**parts)


def test_a_test_set_needs_references_or_sources() -> None:
    with pytest.raises(DataError, match="neither references nor sources"):
        make(references={}, sources=None)
    assert make(references={}).segments == 2


@pytest.mark.parametrize(
    "parts", [{"info": {"u": SystemInfo()}}, {"system_references": {"u": {"P": ["a", "b"]}}}]
)
def test_parts_of_unknown_systems_are_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError, match=r"'u'; .*s, t"):
        make(**parts)


def test_human_scores_must_have_the_shape_of_their_level() -> None:
    wrong = HumanScores("z", "segment", ("s",), np.zeros((1, 3)))
    with pytest.raises(LengthMismatchError, match=r"shape \(1, 3\); expected \(1, 2\)"):
        make(human=(wrong,))
    with pytest.raises(LengthMismatchError, match=r"expected \(1, 1\)"):
        make(human=(replace(wrong, level="document", items=("d",)),))
    with pytest.raises(UnknownNameError, match="level of human scores"):
        make(human=(replace(wrong, level="word"),))


def test_scores_of_a_system_that_nobody_judged_are_missing() -> None:
    human = HumanScores("z", "segment", ("s",), np.array([[1.0, 2.0]]))
    np.testing.assert_array_equal(human.system_scores("s"), [1.0, 2.0])
    np.testing.assert_array_equal(human.system_scores("t"), [np.nan, np.nan])


def test_lists_give_one_reference_or_several_per_segment() -> None:
    one = TestSet.from_lists({"s": ["a", "b"]}, ["x", "y"])
    assert dict(one.references) == {"A": ("x", "y")}
    ragged = TestSet.from_lists({"s": ["a", "b"]}, [["x"], ["y", "z"]])
    assert dict(ragged.references) == {"1": ("x", "y"), "2": (None, "z")}


def test_transposed_references_are_recognised_and_named() -> None:
    systems = {"s": ["a", "b", "c"]}
    with pytest.raises(DataError, match=r"look transposed: 2 lists of 3 texts.*list\(zip"):
        TestSet.from_lists(systems, [["x", "y", "z"], ["1", "2", "3"]])
    with pytest.raises(DataError, match="look transposed: 1 lists of 3"):
        TestSet.from_lists(systems, [["x", "y", "z"]])


def test_references_of_another_length_are_refused() -> None:
    with pytest.raises(LengthMismatchError):
        TestSet.from_lists({"s": ["a", "b"]}, ["x"])
    with pytest.raises(LengthMismatchError):
        TestSet.from_lists({"s": ["a", "b"]}, [["x"], ["y"], ["z"]])


def test_a_pair_tells_both_languages_and_a_single_language_is_the_target() -> None:
    pair, single, unknown = (make(language_pair=p) for p in ("de-en", "en", None))
    assert (pair.source_language, pair.target_language) == ("de", "en")
    assert (single.source_language, single.target_language) == (None, "en")
    assert (unknown.source_language, unknown.target_language) == (None, None)


def test_selecting_keeps_the_order_given_and_what_belongs_to_it() -> None:
    testset = make(
        info={"s": SystemInfo(2019), "t": SystemInfo(2020)},
        system_references={"s": {"P": ["a", "b"]}},
    )
    chosen = testset.select(systems=["t"], references=["B", "A"])
    assert list(chosen.systems) == ["t"]
    assert list(chosen.references) == ["B", "A"]
    assert chosen.info == {"t": SystemInfo(2020)}
    assert not chosen.system_references
    assert list(testset.select().systems) == ["s", "t"]


def test_selecting_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown system 'u'"):
        make().select(systems=["u"])
    with pytest.raises(UnknownNameError, match="unknown reference 'C'"):
        make().select(references=["C"])


def test_a_batch_holds_what_the_test_set_holds() -> None:
    batch = make(system_references={"t": {"P": [None, "p"]}}).batch()
    assert (batch.systems, batch.shape, batch.language_pair) == (("s", "t"), (2, 2), "de-en")

    def spelt(system: int, segment: int) -> list[str]:
        return [batch.texts[i] for i in batch.references_of(system)[segment]]

    assert [spelt(0, 0), spelt(0, 1)] == [["one", "1"], ["two"]]
    assert [spelt(1, 0), spelt(1, 1)] == [["one", "1"], ["two", "p"]]


def test_a_summary_counts() -> None:
    human = HumanScores("z", "system", ("s",), np.ones((1, 1)))
    summary = make(
        documents=["d", "d"],
        domains=["news", "talk"],
        info={"t": SystemInfo(human=True)},
        human=(human,),
        rankings=(Ranking("darr", ()),),
    ).summary()
    assert (summary.segments, summary.systems, summary.human_systems) == (2, 2, 1)
    assert summary.references == {"A": 2, "B": 1}
    assert (summary.documents, summary.domains) == (1, ("news", "talk"))
    assert summary.human_scores == ("z.system", "darr")
    assert summary.empty == {"s": 1}
    assert summary.sources


def test_test_sets_with_human_scores_can_be_compared() -> None:
    def judged(score: float) -> TestSet:
        human = HumanScores("da", "system", ("s",), np.array([[score]]))
        return TestSet("t", {"A": ["x"]}, {"s": ["x"]}, human=(human,))

    assert judged(1.0) == judged(1.0)
    assert judged(float("nan")) == judged(float("nan"))
    assert judged(1.0) != judged(2.0)


def _pickled(testset: TestSet) -> TestSet:
    return pickle.loads(pickle.dumps(testset))  # noqa: S301  # made here


@pytest.mark.parametrize("again", [_pickled, copy.copy, copy.deepcopy])
def test_a_test_set_that_was_pickled_or_copied_is_the_same(
    again: Callable[[TestSet], TestSet],
) -> None:
    testset = make(
        info={"s": SystemInfo(year=2020, extra={"team": "x"})},
        labels={"genre": ["news", "talk"]},
        human=(HumanScores("da", "segment", ("s",), np.array([[1.0, np.nan]])),),
        errors=(ErrorSpan("s", 0, "candidate", 0, 3, "Style", "minor", kind="mqm"),),
        system_references={"s": {"P.1": ["one", None]}},
        paraphrases={"P.1": "P"},
    )
    made = again(testset)
    assert made == testset
    assert hash(made) == hash(testset)
    assert repr(made) == repr(testset)
    assert made.paraphrase_sets == testset.paraphrase_sets
    scores, expected = score(made, "bleu"), score(testset, "bleu")
    assert scores.signature == expected.signature
    assert np.array_equal(scores.segments, expected.segments)
    with pytest.raises(TypeError):
        made.systems["u"] = ("a", "b")  # type: ignore[index]  # the mistake under test


def test_a_pickle_holds_what_was_given_and_nothing_that_was_computed_from_it() -> None:
    testset = make()
    before = pickle.dumps(testset)
    score(testset, "bleu")
    assert testset.outline is not None
    assert testset.anomalies is not None
    assert pickle.dumps(testset) == before


@pytest.mark.parametrize("again", [_pickled, copy.copy, copy.deepcopy])
def test_chosen_segments_keep_the_script_of_all_in_copies(
    again: Callable[[TestSet], TestSet],
) -> None:
    whole = TestSet("t", {"A": ["猫が座った", "ok"]}, {"s": ["猫が座った", "ok"]})
    some = whole.select(segments=[1])
    assert some.written_in is not None
    assert again(some).written_in == some.written_in


def test_equal_test_sets_have_equal_hashes_whatever_the_order_of_names() -> None:
    parts = {"s": ["one", ""], "t": ["x", "y"]}
    turned = dict(reversed(parts.items()))
    assert make(systems=parts) == make(systems=turned)
    assert hash(make(systems=parts)) == hash(make(systems=turned))
    assert len({make(), make(), make(name="other")}) == 2


@pytest.mark.parametrize(
    ("systems", "references"),
    [({"s": "ab"}, ["a", "b"]), (["a"], ["a"]), ({"s": ["a"]}, [[3]]), ({"s": [1]}, ["a"])],
)
def test_what_is_no_list_of_texts_is_refused(systems: Any, references: Any) -> None:
    with pytest.raises(DataError, match=r"must be a list|must map|must be strings"):
        TestSet.from_lists(systems, references)


def test_segments_are_chosen_with_all_that_is_said_of_them() -> None:
    scores = HumanScores("da", "segment", ("a",), np.array([[1.0, 2.0, 3.0]]))
    whole = HumanScores("da", "system", ("a",), np.array([[9.0]]))
    ts = TestSet(
        name="t",
        references={"A": ["r1", "r2", "r3"]},
        systems={"a": ["x", "y", "z"]},
        documents=["d1", "d1", "d2"],
        human=(scores, whole),
        rankings=(Ranking("rr", ((0, "a", "b"), (2, "b", "a")), ("p", "q")),),
        errors=(ErrorSpan("a", 2, "candidate", 0, 1, "c", "major"),),
        system_references={"a": {"own": ["o1", None, "o3"]}},
    )
    some = ts.select(segments=[2, 1])
    assert some.systems["a"] == ("z", "y")
    assert some.documents == ("d2", "d1")
    assert some.human_scores("da").tolist() == [[3.0, 2.0]]
    assert some.human_scores("da", "system").tolist() == [9.0]
    assert some.rankings[0].rows == ((0, "b", "a"),)
    assert some.rankings[0].raters == ("q",)
    assert some.errors[0].segment == 0
    assert some.system_references["a"]["own"] == ("o3", None)


@pytest.mark.parametrize("segments", [[0, 0], [1], [-1]])
def test_segments_that_are_not_there_are_refused(segments: list[int]) -> None:
    with pytest.raises(UsageError, match="segment"):
        TestSet.from_lists({"a": ["x"]}, ["r"]).select(segments=segments)


def test_signatures_name_the_paraphrases_by_what_they_hold() -> None:
    plain = TestSet.from_lists({"x": ["a b", "c"], "y": ["a", "d"]}, ["a b", "c d"])
    made = [Paraphrase(1, "a c", "beam"), Paraphrase(1, "b", "beam"), Paraphrase(2, "e", "human")]
    wide = plain.with_paraphrases(made)
    (beam, human) = wide.paraphrase_sets
    assert (beam.method, beam.n, beam.count, beam.segments) == ("beam", 2, 2, 1)
    told = score(wide, "bleu").signature.fields
    assert ("paraphrased", f"{beam},{human}") in told
    assert "paraphrased" not in dict(score(plain, "bleu").signature.fields)
    assert plain.with_paraphrases(made).paraphrase_sets == wide.paraphrase_sets
    other = [Paraphrase(1, "a d", "beam"), *made[1:]]
    assert plain.with_paraphrases(other).paraphrase_sets[0].identity != beam.identity
    first = plain.with_paraphrases(made, n=1).paraphrase_sets[0]
    assert first.n == 1
    assert first.identity != beam.identity


def test_signatures_say_when_the_originals_are_left_out() -> None:
    plain = TestSet.from_lists({"x": ["a b"]}, ["a b"])
    wide = plain.with_paraphrases([Paraphrase(1, "a c")], original=False)
    assert dict(score(wide, "chrf").signature.fields)["paraphrased"].endswith(",no-original")


def test_paraphrases_of_one_system_are_in_the_identity() -> None:
    plain = TestSet.from_lists({"x": ["a"], "y": ["a"]}, ["b"])
    own = [plain.with_paraphrases([Paraphrase(1, "c", system=s)]) for s in ("x", "y")]
    assert len({one.paraphrase_sets[0].identity for one in own}) == 2
    assert dict(score(own[0], "bleu").signature.fields)["own_refs"] == "1"


@pytest.mark.parametrize(
    "parts", [{"references": [["a"]]}, {"references": {"r": "ref.txt"}}, {"systems": [["a"]]}]
)
def test_texts_without_names_and_names_of_files_are_refused_as_such(parts: dict[str, Any]) -> None:
    given = {"name": "x", "references": {"r": ["a"]}, "systems": {"s": ["a"]}, **parts}
    with pytest.raises(DataError, match="from names to lists of texts"):
        TestSet(**given)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"name": 5}, r"name: names are texts; got 5 \(int\)"),
        ({"language_pair": 7}, "language_pair: names are texts; got 7"),
        ({"systems": {5: ["u"]}}, "systems: names are texts; got 5"),
        ({"systems": {"s": [5]}}, r"systems 's': segments are texts; got 5 \(int\) in segment 1"),
        ({"systems": {"s": [None]}}, "a system that lacks a segment has an empty text there"),
        ({"sources": "s"}, "sources: give a list with one text per segment; got 's'"),
        ({"documents": [1]}, "documents: segments are texts; got 1"),
        ({"human": 3}, "human: give a tuple; got 3"),
    ],
)
def test_the_constructor_refuses_what_is_no_name_and_no_text(
    parts: dict[str, Any], message: str
) -> None:
    given = {"name": "n", "references": {"A": ["x"]}, "systems": {"s": ["u"]}}
    with pytest.raises(DataError, match=message):
        TestSet(**{**given, **parts})
    assert TestSet(**{**given, "references": {"A": [None]}}).references["A"] == (None,)


def test_controls_are_shown_in_notebooks_as_in_the_terminal() -> None:
    outputs = {"a\x1b[31m\u202e": ["x y"], "b": ["x z"]}
    testset = TestSet.from_lists(outputs, ["x y"], name="n\x1b[2J")
    for shown in (testset, gn.score(testset, "bleu"), gn.compare(testset, "bleu", resamples=20)):
        html = shown._repr_html_()
        assert "\x1b" not in html
        assert "\u202e" not in html
        assert r"a\x1b[31m&lt;U+202E&gt;" in html
