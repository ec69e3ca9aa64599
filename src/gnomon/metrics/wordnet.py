"""Synonyms from WordNet's own database files (Miller 1995), as nltk finds them.

The files are ``index.noun``, ``data.noun``, ``noun.exc`` and so on, as Princeton distributes them
(wndb(5WN)); Debian's package wordnet-base and nltk's corpus ``wordnet`` hold the same.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from gnomon.core.errors import FormatError, MissingDependencyError
from gnomon.core.signature import content_hash

__all__ = ["WordNet", "find_wordnet"]


_PARTS = ("noun", "verb", "adj", "adv")
#: endings that may be taken off a form, and what is put in their place: morphy(7WN)
_ENDINGS = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}
_SYSTEM = Path("/usr/share")
#: where an adjective may stand: "galore(ip)"
_MARKER = re.compile(r"\((a|p|ip)\)$")


def find_wordnet(folder: str | None = None) -> WordNet:
    """WordNet in a folder, or where it usually is.

    Looked for in ``WNSEARCHDIR``, in the folder ``corpora/wordnet`` of nltk's data, and where
    Debian puts it.
    """
    places = [Path(folder)] if folder else _places()
    for candidate in places:
        if all(
            (candidate / f"{kind}.{pos}").is_file() for kind in ("index", "data") for pos in _PARTS
        ):
            return _open_folder(candidate)
    looked = ", ".join(map(str, places))
    raise MissingDependencyError(
        f"meteor needs the files of WordNet (index.noun, data.noun, ...), looked for in: {looked};"
        " install them with: apt install wordnet-base, or: python -m nltk.downloader wordnet (and"
        " unzip it), or name their folder: meteor(wordnet='FOLDER')"
    )


def _places() -> list[Path]:
    named = os.environ.get("WNSEARCHDIR")
    data = os.environ.get("NLTK_DATA", "").split(os.pathsep)
    roots = [*map(Path, filter(None, data)), Path.home() / "nltk_data", _SYSTEM / "nltk_data"]
    corpora = [root / "corpora" / "wordnet" for root in roots]
    return [*([Path(named)] if named else []), *corpora, _SYSTEM / "wordnet"]


@lru_cache(maxsize=2)
def _open_folder(folder: Path) -> WordNet:
    return WordNet(folder)


@dataclass(frozen=True)
class WordNet:
    """The database in a folder; files are read when first needed."""

    folder: Path

    @cached_property
    def identity(self) -> str:
        """A hash of the index files."""
        texts = ((self.folder / f"index.{pos}").read_bytes() for pos in _PARTS)
        return content_hash(*texts)

    def synonyms(self, word: str) -> frozenset[str]:
        """Words of one piece that share a sense with a word, whatever its part of speech."""
        if word not in self._cached:
            synonyms = (
                name
                for pos in _PARTS
                for form in self._forms(word.lower(), pos)
                for offset in self._index[pos][form]
                for name in self._names(pos, offset)
                if "_" not in name
            )
            self._cached[word] = frozenset(synonyms)
        return self._cached[word]

    @cached_property
    def _cached(self) -> dict[str, frozenset[str]]:
        return {}

    def _forms(self, word: str, part: str) -> list[str]:
        """The word and its base forms, as far as they are in the index."""
        exceptions = self._exceptions[part].get(word)
        if exceptions is None:
            exceptions = [
                word[: -len(ending)] + new
                for ending, new in _ENDINGS[part]
                if word.endswith(ending)
            ]
        return [form for form in dict.fromkeys([word, *exceptions]) if form in self._index[part]]

    @cached_property
    def _index(self) -> dict[str, dict[str, tuple[int, ...]]]:
        return {pos: dict(map(self._entry, self._lines(f"index.{pos}"))) for pos in _PARTS}

    def _entry(self, line: str) -> tuple[str, tuple[int, ...]]:
        """Lemma and offsets: ``lemma pos senses pointers pointer... senses tagged offset...``."""
        try:
            lemma, _, senses, *rest = line.split()
            offsets = tuple(map(int, rest[-int(senses) :]))
        except ValueError:
            raise FormatError("this is no index of WordNet", path=self.folder) from None
        return lemma, offsets

    @cached_property
    def _exceptions(self) -> dict[str, dict[str, list[str]]]:
        exceptions = {}
        for pos in _PARTS:
            name = f"{pos}.exc"
            lines = self._lines(name) if (self.folder / name).is_file() else []
            split = (line.split() for line in lines)
            exceptions[pos] = {form: bases for form, *bases in split}
        return exceptions

    @cached_property
    def _data(self) -> dict[str, bytes]:
        return {pos: (self.folder / f"data.{pos}").read_bytes() for pos in _PARTS}

    def _names(self, part: str, offset: int) -> list[str]:
        """Words of a synset: ``offset file type count word id word id ...``, count in base 16."""
        data = self._data[part]
        fields = data[offset : data.index(b"\n", offset)].decode("utf-8").split()
        count = int(fields[3], 16)
        return [_MARKER.sub("", name) for name in fields[4 : 4 + 2 * count : 2]]

    def _lines(self, name: str) -> list[str]:
        text = (self.folder / name).read_text(encoding="utf-8")
        # the licence at the top is indented
        return [line for line in text.split("\n") if line.strip() and not line.startswith(" ")]
