"""Words with the parts of speech of a tagger, and base forms by spaCy's rules.

spaCy's rule lemmatiser looks at a word, its part of speech and its morphology, and at nothing
else, so that base forms follow from the tags that the cache holds: no text is tagged for them alone
if its parts of speech are known.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import MissingDependencyError
from gnomon.core.outline import target_of
from gnomon.core.scripts import base_language
from gnomon.linguistics.annotators import find_tagger, standard_tagger
from gnomon.linguistics.facts import unpack
from gnomon.linguistics.scorers.sentences import PlainReader, SentenceWord, pieces, rule_lemmas
from gnomon.linguistics.spacy import SpacyAnnotator, meta_of
from gnomon.linguistics.tagging import tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.core.cache import Cache
    from gnomon.linguistics.annotators import Annotator
    from gnomon.linguistics.facts import Mark
    from gnomon.linguistics.scorers.sentences import Reader

__all__ = ["TaggedReader", "reader_for", "spacy_lemma"]


def reader_for(
    tagger: str | Annotator | None,
    language: str | None,
    *,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Reader:
    """Reader of words: the tagger named, else the standard one of the language, else rules.

    Args:
        tagger: ``spacy:NAME`` or an annotator.
        language: "en", or a pair "de-en", of which the target counts.
        cache: where tags are kept between runs.
        progress: called with "tagging", texts done, texts to do.

    Raises:
        UnknownNameError: there is no such tagger.
        MissingDependencyError: the tagger that was named is not installed.
    """
    target = base_language(target_of(language)) if language else None
    annotator = find_tagger(tagger) if isinstance(tagger, str) else tagger
    if annotator is None and target is not None:
        with suppress(MissingDependencyError):
            annotator = standard_tagger(target)
    if annotator is None or "pos" not in annotator.layers:
        return PlainReader(target)
    return TaggedReader(annotator, target, cache, progress)


@dataclass(frozen=True)
class TaggedReader:
    """Reads words with a tagger.

    Attributes:
        annotator: gives the parts of speech.
        language: of the texts.
        cache: where tags are kept between runs.
        progress: called while texts are tagged.
    """

    annotator: Annotator
    language: str | None = None
    cache: Cache | None = None
    progress: Callable[[str, int, int], None] | None = None

    @property
    def signature(self) -> str:
        """The tagger, and who finds base forms with its tags."""
        has_package = self._package() is not None
        lemmas = "spacy" if has_package else PlainReader(self.language).signature
        return f"{self.annotator.signature}+{lemmas}"

    def words(self, texts: Sequence[str]) -> list[tuple[SentenceWord, ...]]:
        """The words of each text."""
        distinct = list(dict.fromkeys(texts))
        tags = tag(distinct, ["pos"], self.annotator, cache=self.cache, progress=self.progress)
        tokens = unpack("pos", tags.entries["pos"]).marks()
        words_by_tag: dict[tuple[str, str], SentenceWord] = {}
        words_of_texts = {
            text: tuple(
                self._word(words_by_tag, piece, label)
                for piece, label in _label_pieces(text, marks)
            )
            for text, marks in zip(distinct, tokens, strict=True)
        }
        return [words_of_texts[text] for text in texts]

    def _word(
        self, words_by_tag: dict[tuple[str, str], SentenceWord], piece: str, label: str
    ) -> SentenceWord:
        key = (piece, label)
        if key not in words_by_tag:
            words_by_tag[key] = SentenceWord(
                piece, self._lemmas(piece, label), label.partition("|")[0]
            )
        return words_by_tag[key]

    def _lemmas(self, piece: str, label: str) -> tuple[str, ...]:
        package = self._package()
        if package is not None and label:
            lemma = spacy_lemma(package, piece, label)
            return () if lemma == piece else (lemma,)
        return rule_lemmas(piece) if PlainReader(self.language).signature == "rules" else ()

    def _package(self) -> str | None:
        """The pipeline, if it has a lemmatiser that needs no context."""
        if not isinstance(self.annotator, SpacyAnnotator):
            return None
        package = self.annotator.package
        return package if "lemmatizer" in meta_of(package)["pipeline"] else None


def _label_pieces(text: str, tokens: Sequence[Mark]) -> list[tuple[str, str]]:
    """The pieces of a text with the label of the token that each begins in."""
    starts = [start for start, _, _ in tokens]
    labelled = []
    for start, _, piece in pieces(text):
        token = bisect_right(starts, start) - 1
        inside = token >= 0 and start < tokens[token][1]
        labelled.append((piece, tokens[token][2] if inside else ""))
    return labelled


@lru_cache(maxsize=262144)
def spacy_lemma(package: str, word: str, label: str) -> str:
    """The base form of a lower-cased word with a label such as ``VERB|Tense=Past``."""
    from spacy.tokens import Doc

    nlp = _lemmatiser(package)
    upos, _, morph = label.partition("|")
    token: Any = Doc(nlp.vocab, words=[word])[0]
    token.pos_ = "VERB" if upos == "AUX" else upos  # spaCy's tables list auxiliaries as verbs
    token.set_morph(morph)
    lemmas: list[str] = nlp.get_pipe("lemmatizer").lemmatize(token)
    return lemmas[0].lower() if lemmas else word


@lru_cache(maxsize=4)
def _lemmatiser(package: str) -> Any:
    import spacy

    others = [name for name in meta_of(package)["pipeline"] if name != "lemmatizer"]
    nlp = spacy.load(package, exclude=others)
    lemmatiser: Any = nlp.get_pipe("lemmatizer")
    if lemmatiser.lookups.has_table("lemma_index"):
        index = lemmatiser.lookups.get_table("lemma_index")
        for pos in index:
            index[pos] = frozenset(index[pos])  # a list, which spaCy would search for every word
    return nlp
