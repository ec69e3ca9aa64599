"""Memory that ends, models that say nothing, texts that are empty or too long."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from gnomon.core.errors import DataError, ScoringError
from gnomon.models import load_seq2seq
from gnomon.models.decoding import (
    Hypothesis,
    beam,
    code_probabilities,
    constrained,
    diverse,
    log_probabilities,
    sampled,
)
from gnomon.models.decoding import (
    search as _search,
)

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.models import Seq2Seq

TEXTS = ["the cat sat on the mat .", "a dog", "the rug lay on a dog . the cat", "mat", "a cat ."]

METHODS: dict[str, Callable[..., list[list[Hypothesis]]]] = {
    "beam": lambda model, texts: beam(model, texts, beam=4, limit=6),
    "diverse": lambda model, texts: diverse(model, texts, beam=4, groups=2, limit=6),
    "sampled": lambda model, texts: sampled(model, texts, n=3, limit=6),
    "constrained": lambda model, texts: constrained(
        model, texts, [["cat"]] * len(texts), beam=4, limit=6
    ),
}


def _with_room_for(monkeypatch: pytest.MonkeyPatch, rows: int) -> list[int]:
    """Let the decoder fail where it is given more rows; the sizes that were tried."""
    import torch

    tried: list[int] = []
    whole = _search.Steps.logits

    def scarce(self: Any, pieces: Any) -> Any:
        tried.append(len(pieces))
        if len(pieces) > rows:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return whole(self, pieces)

    monkeypatch.setattr(_search.Steps, "logits", scarce)
    return tried


@pytest.mark.parametrize("method", METHODS)
def test_batches_are_halved_where_memory_ends(
    seq2seq: Seq2Seq, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = METHODS[method](seq2seq, TEXTS)
    seq2seq.notices.clear()
    tried = _with_room_for(monkeypatch, 9)
    found = METHODS[method](seq2seq, TEXTS)
    assert max(tried) > 9
    assert [[one.pieces for one in row] for row in found] == [
        [one.pieces for one in row] for row in expected
    ]
    assert [one.code for one in seq2seq.notices] == ["note.models.memory"]


def test_a_text_that_does_not_fit_alone_is_said(
    seq2seq: Seq2Seq, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_room_for(monkeypatch, 3)
    with pytest.raises(ScoringError, match="take a smaller beam"):
        beam(seq2seq, TEXTS, beam=4)
    with pytest.raises(ScoringError, match="a single text"):
        sampled(seq2seq, TEXTS, n=4)


def test_other_faults_are_not_taken_for_want_of_memory(
    seq2seq: Seq2Seq, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Any, pieces: Any) -> Any:
        raise RuntimeError("size mismatch")

    monkeypatch.setattr(_search.Steps, "logits", broken)
    with pytest.raises(RuntimeError, match="size mismatch"):
        beam(seq2seq, TEXTS)


def test_a_cache_of_another_form_is_said(seq2seq: Seq2Seq, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import Cache

    whole = seq2seq.model.forward

    def other(**given: Any) -> Any:
        found = whole(**given)
        name, _ = next(one for one in found.items() if isinstance(one[1], Cache))
        found[name] = ()
        return found

    monkeypatch.setattr(seq2seq.model, "forward", other)
    with pytest.raises(DataError, match="no keys and values of source and target apart"):
        beam(seq2seq, TEXTS)


@pytest.mark.parametrize("method", METHODS)
def test_a_sentence_code_is_the_first_piece_or_none(mostly_coded: Seq2Seq, method: str) -> None:
    codes = set(mostly_coded.codes.values())
    found = [one for row in METHODS[method](mostly_coded, TEXTS) for one in row]
    assert all(codes.isdisjoint(one.pieces[1:]) for one in found)
    assert any(codes.intersection(one.pieces[:1]) for one in found)


def test_no_code_follows_a_prefix(coded: Seq2Seq) -> None:
    codes = set(coded.codes.values())
    for begun in ([coded.codes[2]], [4], [4, coded.codes[0]]):
        for row in beam(coded, TEXTS, n=5, prefixes=[begun] * len(TEXTS), limit=7):
            assert all(codes.isdisjoint(one.pieces[len(begun) :]) for one in row)


def test_texts_that_are_done_leave_the_batch(
    seq2seq: Seq2Seq, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = _with_room_for(monkeypatch, 1000)
    beam(seq2seq, TEXTS, beam=2)  # limits hang on the length of texts
    assert tried[:2] == [5, 10]
    assert tried[1:] == sorted(tried[1:], reverse=True)
    assert tried[-1] == 2


@pytest.fixture(scope="module")
def mute(tmp_path_factory: pytest.TempPathFactory) -> Seq2Seq:
    """A model that ends at once."""
    pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
    from tests.models.tiny_seq2seq import build

    folder: Path = tmp_path_factory.mktemp("mute") / "tiny"
    return load_seq2seq(str(build(folder, end_bias=200.0)))


def test_a_model_that_says_nothing_gives_empty_hypotheses(mute: Seq2Seq) -> None:
    for method in (beam, sampled, diverse):
        for row in method(mute, TEXTS):
            assert row[0].text == ""
            assert row[0].pieces == ()
            assert row[0].log_probability == pytest.approx(0, abs=1e-6)


def test_a_model_that_says_nothing_still_meets_constraints(mute: Seq2Seq) -> None:
    for row in constrained(mute, TEXTS, [["the cat"]] * 5, beam=3, n=1):
        assert row[0].text == "the cat"
        assert row[0].met == (True,)


SCORES: dict[str, Callable[[Seq2Seq, list[str]], object]] = {
    "codes": code_probabilities,
    "forced": lambda model, texts: log_probabilities(model, texts, ["a dog"] * len(texts)),
    "prefix": lambda model, texts: beam(model, texts, prefixes=[[4]] * len(texts)),
}


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model one of whose weights is more than fp16 can hold."""
    pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
    from tests.models.tiny_seq2seq import build

    return str(build(tmp_path_factory.mktemp("huge") / "tiny", end_bias=1e5, codes=3))


@pytest.mark.parametrize("method", [*METHODS, *SCORES])
def test_a_model_too_large_for_its_precision_is_said(huge: str, method: str) -> None:
    run = (METHODS | SCORES)[method]
    assert run(load_seq2seq(huge), TEXTS) is not None
    with pytest.raises(ScoringError, match=r"in fp16.*take precision fp32 or bf16"):
        run(load_seq2seq(huge, precision="fp16"), TEXTS)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_breaks_down_on_the_way_is_said(
    seq2seq: Seq2Seq, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _search.Steps.logits

    def breaking(self: Any, pieces: Any) -> Any:
        found = whole(self, pieces)
        return found if pieces.shape == (5, 1) else found * float("nan")

    monkeypatch.setattr(_search.Steps, "logits", breaking)
    with pytest.raises(ScoringError, match=r"in fp32.*its weights are damaged"):
        METHODS[method](seq2seq, TEXTS)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_comes_of_empty_texts(seq2seq: Seq2Seq, method: str) -> None:
    seq2seq.notices.clear()
    found = METHODS[method](seq2seq, ["", "a dog", " "])
    assert [bool(row) for row in found] == [False, True, False]
    assert [one.code for one in seq2seq.notices] == ["note.models.empty"]
    assert METHODS[method](seq2seq, []) == []


def test_longer_texts_are_cut_and_said(any_seq2seq: Seq2Seq) -> None:
    any_seq2seq.notices.clear()
    before = any_seq2seq.truncated
    long, cut = " ".join(["cat"] * 100), " ".join(["cat"] * 63)
    assert len(any_seq2seq.pieces([long])[0]) == 64
    found, same = beam(any_seq2seq, [long, cut], beam=2, limit=4)
    assert found == same
    assert any_seq2seq.truncated == before + 2
    assert "note.models.cut" in [notice.code for notice in any_seq2seq.notices]


def test_no_target_is_longer_than_the_model_takes(any_seq2seq: Seq2Seq) -> None:
    (row,) = sampled(any_seq2seq, ["a dog"], n=3, limit=10_000, top_p=1.0)
    assert all(len(one.pieces) <= any_seq2seq.limit for one in row)
    full = [3] * any_seq2seq.limit
    assert log_probabilities(any_seq2seq, ["a dog"], [full])[0] < 0
