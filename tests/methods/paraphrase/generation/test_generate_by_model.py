"""Paraphrases by a model: what each method asks of it, what is kept, what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gnomon.core.errors import DataError, SpecError, UnknownNameError, UsageError
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.paraphrase import Constraint, find_generator, plan
from gnomon.paraphrase.generation import (
    ConstrainedSearch,
    Generator,
    MadeBatch,
    OutputCodes,
    generator_names,
)

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.models.tiny_seq2seq import build

from gnomon.models import Seq2Seq, decoding, load_seq2seq

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TEXTS = ["the cat sat on the mat .", "", "a dog lay", "the dog sat on a rug", "a cat lay on"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build(tmp_path_factory.mktemp("tiny"), seed=1))


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = build(tmp_path_factory.mktemp("coded"), codes=6, seed=3, end_bias=-20.0)
    about = {"format": 1, "codes": {"kind": "semantic", "count": 6, "identity": "aaaa"}}
    (made / "gnomon-paraphraser.json").write_text(json.dumps(about), encoding="utf-8")
    return str(made)


@pytest.fixture
def testset() -> TestSet:
    return TestSet.from_lists({}, _TEXTS)


def generate(
    testset: TestSet,
    model: str | None,
    method: str | Generator,
    *,
    batch: int | None = None,
    after: int = 0,
    **more: object,
) -> Iterator[MadeBatch]:
    """The batches of a generator, which has short paraphrases where nothing else is said."""
    short = f"{method}(limit=8)" if isinstance(method, str) and "(" not in method else method
    return plan(testset, short, model=model, **more).batches(batch, after)  # type: ignore[arg-type]  # any option


def _all(batches: object) -> list[Paraphrase]:
    assert not isinstance(batches, MadeBatch)
    return [one for batch in batches for one in batch]  # type: ignore[attr-defined]  # an iterator of batches


def test_a_beam_gives_its_best_hypotheses_with_model_and_score(
    testset: TestSet, folder: str
) -> None:
    made = _all(generate(testset, folder, "beam", n=3))
    model = load_seq2seq(folder)
    for segment in (1, 3, 4, 5):
        text = _TEXTS[segment - 1]
        (row,) = decoding.beam(model, [text], beam=20, limit=8)
        texts = dict.fromkeys(one.text for one in row if one.text and one.text != text)
        own = [one for one in made if one.segment == segment]
        assert [one.text for one in own] == list(texts)[:3]
        assert {(one.method, one.model, one.seed) for one in own} == {
            ("beam", model.identity, None)
        }
        scores = [one.score for one in own]
        assert scores == sorted(scores, key=lambda s: -(s or 0))
    assert not [one for one in made if one.segment == 2]


@pytest.mark.parametrize("method", ["beam", "diverse", "sampled", "codes", "random-codes"])
def test_results_do_not_depend_on_the_size_of_batches(
    testset: TestSet, coded: str, method: str
) -> None:
    whole = _all(generate(testset, coded, method, n=3))
    assert whole
    late = [one for one in whole if one.segment > 3]
    parts = [(generate(testset, coded, method, n=3, batch=size), whole) for size in (1, 2, 100)]
    for part, wanted in [*parts, (generate(testset, coded, method, n=3, after=3), late)]:
        made = _all(part)
        assert [replace(one, score=0) for one in made] == [replace(one, score=0) for one in wanted]
        # in batches of another shape sums round otherwise: a last digit may fall to the other side
        pairs = [(a.score or 0, b.score or 0) for a, b in zip(made, wanted, strict=True)]
        assert all(abs(a - b) < 1.1e-3 for a, b in pairs)


def test_an_empty_reference_is_counted(testset: TestSet, folder: str) -> None:
    batches = list(generate(testset, folder, "beam", batch=2))
    assert [batch.counts["bare"] for batch in batches] == [1, 0, 0]
    assert [batch.done for batch in batches] == [2, 4, 5]


class _Canned:
    """Hypotheses that tests choose, in place of a search."""

    def __init__(self, rows: dict[str, list[str]]) -> None:
        self.rows = rows

    def __call__(
        self, _model: Seq2Seq, texts: list[str], *, n: int, **_: object
    ) -> list[list[decoding.Hypothesis]]:
        return [
            [decoding.Hypothesis(t, (), -float(k), -float(k), ()) for k, t in enumerate(row[:n])]
            for row in (self.rows[text] for text in texts)
        ]


def test_filters_leave_n_where_the_search_has_enough(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"a b": ["a b", "", "a  c", "a c", "a d", "a e"], "x": ["x", "x", "x"]}
    monkeypatch.setattr(decoding, "beam", _Canned(rows))
    ts = TestSet.from_lists({}, ["a b", "x"])
    (batch,) = generate(ts, folder, "beam", n=2)
    assert [(one.segment, one.text) for one in batch] == [(1, "a c"), (1, "a d")]
    assert batch.counts == {
        **dict.fromkeys(("bare", "unreachable", "inadequate"), 0),
        "short": 1,
        "empty": 1,
        "copies": 2,
        "duplicates": 3,
    }
    (batch,) = generate(ts, folder, "beam", n=3, keep_copies=True, keep_duplicates=True)
    assert [one.text for one in batch] == ["a b", "a c", "a c", "x", "x", "x"]
    (batch,) = generate(ts, folder, "beam", n=1, filter="chrf", least=99.0)
    assert not len(batch)
    assert batch.counts["inadequate"] == 3


def test_several_references_share_n_in_turn(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "beam", _Canned({"a": ["c", "d", "e"], "b": ["f"]}))
    (batch,) = generate(TestSet.from_lists({}, [["a", "b"]]), folder, "beam", n=3)
    assert [one.text for one in batch] == ["c", "f", "d"]


def test_draws_keep_their_seed_and_another_seed_draws_others(testset: TestSet, folder: str) -> None:
    first, again = (_all(generate(testset, folder, "sampled", n=2)) for _ in range(2))
    assert first == again
    assert {one.seed for one in first} == {12345}
    other = _all(generate(testset, folder, "sampled(limit=8, seed=1)", n=2))
    assert [one.text for one in other] != [one.text for one in first]


def _naming_codes(
    _: Seq2Seq, texts: list[str], *, prefixes: list[list[int]], **__: object
) -> list[list[decoding.Hypothesis]]:
    """In place of a search: the text, and the piece that the paraphrase was to begin with."""
    pairs = zip(texts, prefixes, strict=True)
    return [[decoding.Hypothesis(f"{text} {p}", (), 0.0, 0.0, ())] for text, (p,) in pairs]


def test_codes_are_taken_by_their_probability(
    testset: TestSet, coded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_seq2seq(coded)
    rows = decoding.code_probabilities(model, _TEXTS)
    monkeypatch.setattr(decoding, "beam", _naming_codes)
    made = _all(generate(testset, coded, "codes", n=4))
    for segment in (1, 3, 4, 5):
        order = np.argsort(-rows[segment - 1], kind="stable")[:4].tolist()
        wanted = [f"{_TEXTS[segment - 1]} {model.codes[code]}" for code in order]
        assert [one.text for one in made if one.segment == segment] == wanted
    assert {one.method for one in made} == {"codes-semantic"}


def test_random_codes_differ_between_segments_and_seeds(
    coded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "beam", _naming_codes)
    ts = TestSet.from_lists({}, ["a", "b", "c", "d"])
    made = _all(generate(ts, coded, "random-codes", n=3))
    assert {(one.method, one.seed) for one in made} == {("random-codes-semantic", 12345)}
    drawn = [tuple(one.text[2:] for one in made if one.segment == k) for k in range(1, 5)]
    assert all(len(set(codes)) == 3 for codes in drawn)
    assert len(set(drawn)) > 1
    other = _all(generate(ts, coded, "random-codes(limit=8, seed=5)", n=3))
    assert [one.text for one in other] != [one.text for one in made]


class _Coder:
    def __init__(self, codes: dict[str, int]) -> None:
        self.identity = "aaaa"
        self._codes = codes

    def assign(self, texts: Sequence[str]) -> NDArray[np.int32]:
        return np.array([self._codes[text] for text in texts], dtype=np.int32)


def test_an_output_specific_paraphrase_begins_with_the_code_of_its_output(coded: str) -> None:
    systems = {"x": ["the cat lay", "a dog"], "y": ["a cat sat", ""]}
    ts = TestSet.from_lists(systems, ["the cat sat", "the dog"])
    coder = _Coder({"the cat lay": 2, "a dog": 1, "a cat sat": 4, "": -1})
    under = OutputCodes(codes=coder, limit=8)  # type: ignore[arg-type]  # it tells what is asked
    made = _all(generate(ts, coded, under))
    assert [(one.segment, one.system) for one in made] == [(1, "x"), (1, "y"), (2, "x")]
    model = load_seq2seq(coded)
    for one, code in zip(made, (2, 4, 1), strict=True):
        text = ("the cat sat", "the dog")[one.segment - 1]
        (row,) = decoding.beam(model, [text], beam=6, prefixes=[[model.codes[code]]], limit=8)
        assert one.text in {h.text for h in row}
    wide = ts.with_paraphrases(made)
    assert {name: len(refs) for name, refs in wide.system_references.items()} == {"x": 1, "y": 1}
    coder.identity = "bbbb"
    with pytest.raises(DataError, match="trained with the codes aaaa"):
        _all(generate(ts, coded, under))
    coder.identity, coder._codes["a dog"] = "aaaa", 9
    with pytest.raises(DataError, match="code 9"):
        _all(generate(ts, coded, under))


def _wants(segment: int, text: str) -> Constraint:
    return Constraint(segment, tuple(text.split()), text)


def _holding(*wanted: Constraint, together: bool = False) -> ConstrainedSearch:
    return ConstrainedSearch(constraints=wanted, together=together, limit=8)


def test_constrained_paraphrases_hold_what_is_asked(testset: TestSet, folder: str) -> None:
    wanted = [_wants(1, "rug"), _wants(1, "dog lay"), _wants(3, "mat"), _wants(2, "cat")]
    batches = list(generate(testset, folder, _holding(*wanted)))
    made = _all(iter(batches))
    assert [one.segment for one in made] == [1, 1, 3]
    assert "rug" in made[0].text.split()
    assert "dog lay" in made[1].text
    assert "mat" in made[2].text.split()
    assert sum(batch.counts["unreachable"] for batch in batches) == 0
    (one, _) = _all(generate(testset, folder, _holding(*wanted, together=True)))
    assert "rug" in one.text.split()
    assert "dog lay" in one.text


def test_constraints_out_of_reach_are_counted(testset: TestSet, folder: str) -> None:
    wanted = [_wants(1, "zebra"), _wants(1, "rug"), _wants(3, "a cat sat on a mat . the dog lay .")]
    (batch,) = generate(testset, folder, _holding(*wanted))
    assert batch.counts["unreachable"] == 2
    assert [one.segment for one in batch] == [1]
    (batch,) = generate(testset, folder, _holding(*wanted[:2], together=True))
    assert batch.counts["unreachable"] == 1
    assert "rug" in next(iter(batch)).text.split()
    with pytest.raises(DataError, match="segment 9"):
        _all(generate(testset, folder, _holding(_wants(9, "cat"))))


def test_a_round_trip_goes_through_two_models(folder: str, coded: str) -> None:
    ts = TestSet.from_lists({}, ["the cat sat"])
    method = f"round-trip(forward='{folder}', back='{coded}', limit=8)"
    made = _all(generate(ts, None, method, n=2))
    assert {one.method for one in made} == {"round-trip"}
    there, back = load_seq2seq(folder), load_seq2seq(coded)
    ((middle,),) = decoding.beam(there, ["the cat sat"], beam=20, n=1, limit=8)
    (row,) = decoding.beam(back, [middle.text], beam=20, limit=8)
    texts = [t for t in dict.fromkeys(one.text for one in row) if t not in ("", "the cat sat")]
    assert [one.text for one in made] == texts[:2]
    assert {one.model for one in made} == {f"{there.identity} > {back.identity}"}


def test_a_model_that_says_nothing_gives_no_paraphrase(tmp_path: Path, testset: TestSet) -> None:
    silent = str(build(tmp_path / "silent", end_bias=1000.0))
    (batch,) = generate(testset, silent, "sampled", n=2)
    assert not len(batch)
    assert batch.counts["empty"] == 4 * 4 * 2
    assert batch.counts["short"] == 4


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("beam(beam=0)", "beam: beam must be a whole number, 1 or more; got 0"),
        ("sampled(top_p=0.0)", "top_p must be"),
        ("sampled(temperature=0)", "temperature must be a number, above 0"),
        ("sampled(seed=-1)", "seed must be a whole number, 0 or more"),
        ("sampled(top_p='much')", "top_p cannot be 'much'"),
        ("diverse(strength=-1)", "strength"),
    ],
)
def test_options_out_of_their_range_are_refused(method: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        find_generator(method)


def test_what_a_model_cannot_do_is_said(testset: TestSet, folder: str, coded: str) -> None:
    with pytest.raises(UnknownNameError, match="beam"):
        find_generator("bean")
    for method in ("codes", "random-codes"):
        with pytest.raises(UsageError, match="knows none"):
            generate(testset, folder, method)
    with pytest.raises(UsageError, match="has 6 codes; 7"):
        generate(testset, coded, "codes", n=7)
    with pytest.raises(UsageError, match="7 cannot be split into 2"):
        generate(testset, folder, "diverse(beam=7, groups=2)")
    with pytest.raises(UsageError, match="n must be a whole number, 1 or more; got 0"):
        generate(testset, folder, "beam", n=0)
    with pytest.raises(UsageError, match="both"):
        generate(testset, folder, "beam", filter="chrf")
    with pytest.raises(UsageError, match="needs a model"):
        generate(testset, None, "beam")
    with pytest.raises(DataError, match="the test set has none"):
        generate(testset, folder, "constrained")


def test_settings_hold_what_the_method_reads(testset: TestSet, folder: str, coded: str) -> None:
    given = {"codes", "random-codes", "output-codes"}
    of = {
        "constrained": _holding(_wants(1, "cat")),
        "output-codes": OutputCodes(codes=_Coder(dict.fromkeys(_TEXTS, 0))),  # type: ignore[arg-type]  # likewise
        "round-trip": f"round-trip(forward='{folder}', back='{folder}')",
    }
    outputs = replace(testset, systems={"x": _TEXTS})
    for name in generator_names()[4:]:
        model = None if name == "round-trip" else coded if name in given else folder
        held = plan(outputs, of.get(name, name), model=model).settings()  # type: ignore[arg-type]  # one of these
        assert ("seed" in held) is (name in ("sampled", "random-codes"))
        assert ("beam" in held) is (name != "sampled")
        assert not {"codes", "constraints", "forward"} & set(held)
