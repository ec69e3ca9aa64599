"""METEOR against nltk's meteor_score, with a tiny WordNet and with the real one."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, MissingDependencyError
from gnomon.metrics.meteor import align, chunks
from gnomon.metrics.tokenise import tokenise
from gnomon.metrics.wordnet import WordNet

nltk = pytest.importorskip("nltk", reason="needs nltk: pip install 'gnomon[rouge]'")

#: lemma -> lines of a data file, by part of speech
_SENSES = {
    "noun": [["cat", "feline"], ["man", "adult_male", "guy"], ["house", "home"], ["box"]],
    "verb": [["run", "Hurry"], ["sit", "sit_down", "perch"]],
    "adj": [["galore(ip)", "plenty"], ["big", "large"]],
    "adv": [["quickly", "fast"]],
}
_EXCEPTIONS = {"noun": ["geese goose"], "verb": ["ran run", "sat sit"], "adj": [], "adv": []}
_LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WordNet of a few senses, written as wndb(5WN) describes the files."""
    folder = tmp_path_factory.mktemp("nltk") / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for part, senses in _SENSES.items():
        data, index = "  1 a licence\n", dict[str, list[int]]()
        for names in senses:
            words = " ".join(f"{name} 0" for name in names)
            for name in names:
                index.setdefault(name.partition("(")[0].lower(), []).append(len(data))
            letter = _LETTERS[part]
            verb = " 00" if part == "verb" else ""
            data += f"{len(data):08d} 03 {letter} {len(names):02x} {words} 000{verb} | gloss  \n"
        lines = [
            f"{lemma} {_LETTERS[part]} {len(found)} 0 {len(found)} 0 "
            + " ".join(f"{offset:08d}" for offset in found)
            for lemma, found in sorted(index.items())
        ]
        (folder / f"data.{part}").write_text(data, encoding="utf-8")
        (folder / f"index.{part}").write_text("\n".join(["  1 a licence", *lines, ""]))
        (folder / f"{part}.exc").write_text("\n".join([*_EXCEPTIONS[part], ""]))
    _complete(folder)
    return folder


def _complete(folder: Path) -> None:
    """Add the files that nltk opens and METEOR does not look at."""
    names = [f"{number:02d}\tname{number}\t1\n" for number in range(45)]
    (folder / "lexnames").write_text("".join(names), encoding="utf-8")
    (folder / "index.sense").write_text("", encoding="utf-8")


def _reader(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    """nltk's own reader of a folder; nltk opens files of its data path alone."""
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.data import FileSystemPathPointer

    patch.setattr(nltk.data, "path", [str(folder.parent.parent), str(folder)])
    return WordNetCorpusReader(FileSystemPathPointer(str(folder)), None)


def _theirs(references: Sequence[str], candidate: str, reader: Any, stemmer: Any = None) -> float:
    from nltk.stem.porter import PorterStemmer
    from nltk.translate.meteor_score import meteor_score

    table = tokenise([candidate, *references], "13a")
    words = [table.strings(i) for i in range(len(references) + 1)]
    return float(
        meteor_score(words[1:], words[0], wordnet=reader, stemmer=stemmer or PorterStemmer())
    )


@pytest.fixture(scope="module")
def reader(small: Path) -> Any:
    pytest.importorskip("nltk.corpus.reader.wordnet")
    with pytest.MonkeyPatch.context() as patch:
        yield _reader(small, patch)


_TEXT = """cat feline cats man men guy home houses run runs ran hurry Hurry perch sat boxes
galore plenty bigger larger quickly fast quick the . of goose geese"""
_WORDS = _TEXT.replace("\n", " ").split(" ")
sentences = st.lists(st.sampled_from(_WORDS), max_size=9).map(" ".join)


@pytest.mark.filterwarnings("ignore::UserWarning")  # nltk misses its multilingual files
@given(candidate=sentences, references=st.lists(sentences, min_size=1, max_size=3))
def test_scores_equal_nltk(small: Path, reader: Any, candidate: str, references: list[str]) -> None:
    testset = gn.TestSet.from_lists({"a": [candidate]}, [references], language_pair="en")
    found = gn.score(testset, f"meteor(wordnet={str(small)!r})").segments[0, 0]
    assert found == pytest.approx(_theirs(references, candidate, reader), abs=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("word", _WORDS)
def test_synonyms_equal_nltk(small: Path, reader: Any, word: str) -> None:
    expected = {
        lemma.name()
        for synset in reader.synsets(word)
        for lemma in synset.lemmas()
        if "_" not in lemma.name()
    }
    assert WordNet(small).synonyms(word) == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("segments", [30, pytest.param(1000, marks=pytest.mark.verify)])
def test_scores_equal_nltk_on_real_pairs(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, segments: int
) -> None:
    debian = Path("/usr/share/wordnet")
    if not (debian / "index.noun").is_file():
        pytest.skip("needs WordNet: apt install wordnet-base")
    folder = tmp_path / "corpora" / "wordnet"
    shutil.copytree(debian, folder)
    _complete(folder)
    reader = _reader(folder, monkeypatch)
    whole = gn.TestSet.read(shared / "data/wmt19/de-en")
    references = [text or "" for text in next(iter(whole.references.values()))[:segments]]
    systems = {name: whole.systems[name][:segments] for name in list(whole.systems)[:2]}
    testset = gn.TestSet.from_lists(systems, references, language_pair="de-en")
    found = gn.score(testset, f"meteor(wordnet={str(debian)!r})").segments
    for k, texts in enumerate(systems.values()):
        for n, text in enumerate(texts):
            expected = _theirs([references[n]], text, reader)
            assert found[k, n] == pytest.approx(expected, abs=1e-9)


def test_other_languages_have_their_stems_and_no_synonyms() -> None:
    class Nothing:
        def synsets(self, _: str) -> list[object]:
            return []

    from nltk.stem.snowball import SnowballStemmer

    candidate, reference = "die großen Häuser stehen", "das große Haus steht"
    testset = gn.TestSet.from_lists({"a": [candidate]}, [reference], language_pair="en-de")
    scores = gn.score(testset, "meteor")
    expected = _theirs([reference], candidate, Nothing(), SnowballStemmer("german"))
    assert scores.segments[0, 0] == pytest.approx(expected, abs=1e-12)
    assert expected > 0
    assert "|stem:snowball-german|wordnet:none|" in str(scores.signature)


def test_languages_without_a_stemmer_match_exactly() -> None:
    testset = gn.TestSet.from_lists({"a": ["x y"]}, ["x y"], language_pair="en-cs")
    scores = gn.score(testset, "meteor")
    assert scores.segments[0, 0] == pytest.approx(1 - 0.5 / 8)
    assert "|stem:none|" in str(scores.signature)


def test_last_words_are_matched_first() -> None:
    pairs = align(["a", "b"], ["a", "b", "a", "b"], str, lambda _: ())
    assert pairs == [(0, 2), (1, 3)]
    assert chunks(pairs) == 1
    assert chunks([]) == 0


def test_empty_sides_score_zero(small: Path) -> None:
    testset = gn.TestSet.from_lists({"a": ["", "cat", ""]}, ["cat", "", ""], language_pair="en")
    found = gn.score(testset, f"meteor(wordnet={str(small)!r})").segments[0]
    assert found.tolist() == [0, 0, 0]


def test_segments_without_a_reference_have_no_score(small: Path) -> None:
    testset = gn.TestSet(
        name="t", references={"r": [None, "cat"]}, systems={"a": ["cat", "cat"]}, language_pair="en"
    )
    found = gn.score(testset, f"meteor(wordnet={str(small)!r})").segments[0]
    assert np.isnan(found[0])
    assert found[1] == 0.5  # one match in one chunk: the full penalty


def test_missing_wordnet_says_where_it_was_looked_for(tmp_path: Path) -> None:
    testset = gn.TestSet.from_lists({"a": ["x"]}, ["x"], language_pair="en")
    with pytest.raises(MissingDependencyError, match="apt install wordnet-base"):
        gn.score(testset, f"meteor(wordnet={str(tmp_path)!r})")


def test_a_damaged_index_is_refused(small: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(small, tmp_path / "damaged")
    (folder / "index.noun").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(FormatError, match="no index of WordNet"):
        WordNet(folder).synonyms("cat")


def test_references_are_needed() -> None:
    testset = gn.TestSet(name="t", references={}, sources=["a"], systems={"a": ["b"]})
    with pytest.raises(DataError, match="needs references"):
        gn.score(testset, "meteor")
