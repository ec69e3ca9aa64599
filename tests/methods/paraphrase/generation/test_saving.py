"""The file that grows batch by batch: interruptions, other settings, damage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.core.testset import TestSet
from gnomon.data.formats import read_paraphrases
from gnomon.paraphrase import plan, save_generated
from gnomon.paraphrase.generation import Work

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.models.tiny_seq2seq import build

_TEXTS = ["the cat sat on the mat .", "", "a dog lay", "the dog sat on a rug", "a cat lay on"]
_SAMPLED = "sampled(limit=8)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build(tmp_path_factory.mktemp("tiny"), seed=1))


@pytest.fixture
def work(folder: str) -> Work:
    made = plan(TestSet.from_lists({}, _TEXTS), _SAMPLED, model=folder, n=2)
    assert isinstance(made, Work)
    return made


def _record(path: Path) -> Path:
    return path.with_name(path.name + ".settings.json")


def test_the_file_is_read_as_paraphrases(work: Work, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    counts = save_generated(path, work, batch=2)
    made = read_paraphrases([path], segments=5)
    assert list(made) == [one for batch in work.batches() for one in batch]
    assert counts["paraphrases"] == len(made) == 8
    assert (counts["segments"], counts["bare"]) == (4, 1)
    assert {(one.seed, one.model) for one in made} == {(12345, work.models.identity)}


class _Stopped(Exception):  # noqa: N818  # stands for a signal, not for an error
    pass


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("cut", [0, 1, 25])
def test_an_interruption_changes_no_byte(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, cut: int
) -> None:
    """Stopped while a batch is written: some of its bytes are in the file, its record is not."""
    whole = tmp_path / "whole.jsonl"
    counts = save_generated(whole, work, batch=batch)
    path = tmp_path / "p.jsonl"

    def stopping(self: Work, size: int | None = None, after: int = 0) -> Iterator[object]:
        for made in plain(self, size, after):
            if made.done > 3:
                with path.open("ab") as file:
                    file.write("".join(f'{{"segment": {p.segment}' for p in made).encode()[:cut])
                raise _Stopped
            yield made

    plain = Work.batches
    with monkeypatch.context() as patch:
        patch.setattr(Work, "batches", stopping)
        with pytest.raises(_Stopped):
            save_generated(path, work, batch=batch)
    assert path.read_bytes() != whole.read_bytes()
    assert save_generated(path, work, batch=batch, resume=True) == counts
    assert path.read_bytes() == whole.read_bytes()
    assert _record(path).read_bytes() == _record(whole).read_bytes()
    assert save_generated(path, work, resume=True) == counts
    assert path.read_bytes() == whole.read_bytes()


def test_resuming_with_other_settings_says_which_differ(
    work: Work, folder: str, tmp_path: Path
) -> None:
    path = tmp_path / "p.jsonl"
    save_generated(path, work)
    before = path.read_bytes()
    testset = TestSet.from_lists({}, _TEXTS)
    filtered = plan(testset, _SAMPLED, model=folder, n=2, filter="chrf", least=1.0)
    for other, said in (
        (plan(testset, "sampled(limit=8, seed=4)", model=folder, n=2), "seed 12345, now 4"),
        (plan(testset, _SAMPLED, model=folder, n=3), "n 2, now 3"),
        (plan(testset, "beam(limit=8)", model=folder, n=2), "method 'sampled', now 'beam'"),
        (filtered, "metric None, now 'chrf'"),
    ):
        with pytest.raises(UsageError, match=said):
            save_generated(path, other, resume=True)
    changed = plan(TestSet.from_lists({}, ["a cat", *_TEXTS[1:]]), _SAMPLED, model=folder, n=2)
    with pytest.raises(UsageError, match="texts, constraints or codes"):
        save_generated(path, changed, resume=True)
    assert path.read_bytes() == before
    save_generated(path, changed)
    assert path.read_bytes() != before


def test_resuming_in_another_precision_is_refused(work: Work, folder: str, tmp_path: Path) -> None:
    path, testset = tmp_path / "p.jsonl", TestSet.from_lists({}, _TEXTS)
    save_generated(path, work)
    assert json.loads(_record(path).read_text())["settings"]["model"] == work.models.model.identity
    half = plan(testset, _SAMPLED, model=folder, n=2, precision="bf16")
    with pytest.raises(UsageError, match=r"other settings: model '.*', now '.*,bf16'"):
        save_generated(path, half, resume=True)
    save_generated(path, half)
    with pytest.raises(UsageError, match=r"model '.*,bf16', now '"):
        save_generated(path, work, resume=True)
    assert save_generated(path, half, resume=True)["paraphrases"] == len(read_paraphrases([path]))


def test_a_file_that_was_changed_or_not_begun_is_not_resumed(work: Work, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    save_generated(path, work, resume=True)
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with pytest.raises(DataError, match="was changed"):
        save_generated(path, work, resume=True)
    for text in ("{", "[" * 100_000):
        _record(path).write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match="damaged"):
            save_generated(path, work, resume=True)
    _record(path).write_text(json.dumps({"format": 9}), encoding="utf-8")
    with pytest.raises(FormatError, match="format 9"):
        save_generated(path, work, resume=True)
    _record(path).unlink()
    with pytest.raises(DataError, match="cannot be resumed"):
        save_generated(path, work, resume=True)
