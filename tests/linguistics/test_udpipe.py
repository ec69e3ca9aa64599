"""Model files of UDPipe, by what the package says of a text with a tiny model of our own."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from gnomon.core.errors import FormatError, MissingDependencyError, MissingFileError
from gnomon.linguistics import annotate, find_tagger, parse
from gnomon.linguistics import udpipe as _udpipe

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = "👩‍👩‍👧 zum Hund\0. Ja"
#: start, end, form, part of speech, morphology, lemma, head, relation; words in a token have none
SENTENCES = (
    (
        (0, 5, "👩‍👩‍👧", "SYM", "", "👩‍👩‍👧", 4, "dep"),
        (None, None, "zu", "ADP", "", "zu", 4, "case"),
        (None, None, "dem", "DET", "Case=Dat|Definite=Def", "der", 4, "det"),
        (10, 14, "Hund", "NOUN", "Case=Dat", "Hund", 0, "root"),
        (15, 16, ".", "PUNCT", "", ".", 4, "punct"),
    ),
    ((17, 19, "Ja", "INTJ", "", "ja", 0, "root"),),
)
TOKEN = (2, 3, 6, 9)  # first and last word, start and end


def _token(start: int | None, end: int | None, **facts: Any) -> Any:
    return SimpleNamespace(getTokenRangeStart=lambda: start, getTokenRangeEnd=lambda: end, **facts)


class _Sentence:
    """As ufal.udpipe.Sentence: its first word is the root."""

    def __init__(self) -> None:
        self.words: list[Any] = [_token(None, None, id=0)]
        self.multiwordTokens: list[Any] = []
        self.given: tuple[tuple[Any, ...], ...] = ()

    def addWord(self, form: str) -> None:  # noqa: N802  # its name
        self.words.append(_token(None, None, id=len(self.words), form=form))


class _Tokenizer:
    def setText(self, text: str) -> None:  # noqa: N802  # its name
        assert "\0" not in text  # where the package stops to read
        self.left = iter(SENTENCES if text else ())

    def nextSentence(self, sentence: _Sentence) -> bool:  # noqa: N802  # its name
        sentence.given = next(self.left, ())
        for row in sentence.given:
            sentence.addWord(row[2])
        if len(sentence.given) > 1:
            first, last, start, end = TOKEN
            sentence.multiwordTokens.append(_token(start, end, idFirst=first, idLast=last))
        return bool(sentence.given)


class _Model:
    """A model that tags, and parses if it is said to."""

    DEFAULT, TOKENIZER_RANGES = "", "ranges"

    def __init__(self, content: str) -> None:
        self.parses = "parser" in content

    def newTokenizer(self, options: str) -> _Tokenizer:  # noqa: N802  # its name
        assert options in ("", "ranges")
        return _Tokenizer()

    def tag(self, sentence: _Sentence, _: str) -> bool:
        for word, row in zip(sentence.words[1:], sentence.given, strict=False):
            place = _token(*row[:2])
            vars(word).update(vars(place), upostag=row[3], feats=row[4], lemma=row[5])
            word.head, word.deprel = -1, ""
        return True

    def parse(self, sentence: _Sentence, _: str) -> bool:
        for word, row in zip(sentence.words[1:], sentence.given, strict=False):
            if self.parses:
                word.head, word.deprel = row[6:]
        return self.parses


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A file that the package, made to look installed, takes for a model."""
    path = tmp_path / "tiny.udpipe"
    path.write_text("parser")

    def load(file: str) -> _Model | None:
        content = Path(file).read_text()
        return _Model(content) if content else None

    fake = SimpleNamespace(Sentence=_Sentence, Model=SimpleNamespace(load=load))
    monkeypatch.setitem(sys.modules, "ufal.udpipe", fake)
    known = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "1.4" if name == "ufal.udpipe" else known(name)
    )
    yield path
    _udpipe._load.cache_clear()


def test_words_stand_where_the_ranges_say_and_those_of_one_token_share_its_place(
    model: Path,
) -> None:
    tagger = find_tagger(f"udpipe:{model}")
    assert tagger.layers == {"pos": ("pos", "morph"), "token": (), "dep": ("dep",)}
    found = annotate([TEXT, " "], ["pos:*", "morph:Case", "dep:det"], tagger=tagger, tokens=True)
    marked = {n: [TEXT[s:e] for s, e in found.spans.spans(0, n)] for n in found.spans.features}
    assert marked["pos:SYM"] == ["👩‍👩‍👧"]
    assert marked["pos:ADP"] == marked["pos:DET"] == marked["dep:det"] == ["zum"]
    assert marked["morph:Case"] == ["zum", "Hund"]
    sentence, blank = found.sentences
    assert [(t.lemma, t.head) for t in sentence.tokens[1:]] == [
        ("zu", 3),
        ("der", 3),
        ("Hund", 3),
        (".", 3),
        ("ja", 5),
    ]
    assert blank.tokens == ()
    (tree,) = parse([TEXT], tagger=f"udpipe:{model}")
    assert "(NOUNP (SYM 👩‍👩‍👧) (ADP zum) (DET zum) (NOUN Hund) (PUNCT .))" in str(tree)


def test_a_model_without_a_parser_tags_and_its_signature_tells_it_from_others(model: Path) -> None:
    before = find_tagger(f"udpipe:{model}").signature
    model.write_text("tags")
    tagger = find_tagger(f"udpipe:{model}")
    assert tagger.layers == {"pos": ("pos", "morph"), "token": ()}
    assert tagger.signature.startswith("udpipe:tiny.udpipe-")
    assert tagger.signature != before
    found = annotate([TEXT], ["pos:NOUN"], tagger=tagger, tokens=True)
    assert [token.head for token in found.sentences[0].tokens] == [*range(6)]


def test_a_file_that_is_no_model_is_refused(model: Path) -> None:
    model.write_text("")
    with pytest.raises(FormatError, match="no model of UDPipe 1"):
        find_tagger(f"udpipe:{model}")
    with pytest.raises(MissingFileError, match="no model of UDPipe at"):
        find_tagger("udpipe:nowhere.udpipe")


def test_udpipe_says_how_it_is_installed() -> None:
    try:
        importlib.metadata.version("ufal.udpipe")
    except importlib.metadata.PackageNotFoundError:
        with pytest.raises(MissingDependencyError, match=r"pip install 'gnomon\[udpipe\]'"):
            find_tagger("udpipe:any.udpipe")
    else:
        pytest.skip("UDPipe is installed here")
