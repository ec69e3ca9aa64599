"""Which words of the references carry content, and of which class they are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from gnomon.annotate import annotate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.annotate import Annotator
    from gnomon.cache import Cache
    from gnomon.difficulty._observed import Observed
    from gnomon.testset import TestSet


CONTENT = ("NOUN", "PROPN", "VERB", "ADJ", "ADV")
_FREQUENT = 100
_SHORT = 3


def word_classes(
    found: Observed, testset: TestSet, tagger: str | Annotator, cache: Cache | None
) -> tuple[NDArray[np.object_], str]:
    """The part of speech of each word, object [W]; None where the tagger has none.

    Args:
        found: the words.
        testset: for the target language.
        tagger: ``spacy:NAME``, an annotator, or "auto".
        cache: where tags are kept.

    Returns:
        The classes, and who says so.

    Raises:
        MissingDependencyError: no tagger is installed for the language.
        UsageError: the language is not known.
    """
    distinct = list(dict.fromkeys(found.places.text))
    tagged = annotate(
        distinct,
        ["pos:*"],
        tagger=None if tagger == "auto" else tagger,
        language=testset.target_language,
        cache=cache,
    )
    spans = tagged.spans
    names = [feature.removeprefix("pos:") for feature in spans.features]
    marked: list[list[str | None]] = [[None] * len(text) for text in distinct]
    for text, feature, start, end in zip(
        spans.text.tolist(), spans.feature.tolist(), spans.start.tolist(), spans.end.tolist(),
        strict=True,
    ):  # fmt: skip
        marked[text][start:end] = [names[feature]] * (end - start)
    number = {text: place for place, text in enumerate(distinct)}
    owner = [number[text] for text in found.places.text]
    words = found.words
    return np.array(
        [
            marked[owner[group]][start]
            for group, start in zip(words.group.tolist(), words.start.tolist(), strict=True)
        ],
        dtype=object,
    ), ", ".join(tagged.taggers)


def content_words(
    found: Observed, classes: NDArray[np.object_] | None, said: str
) -> tuple[NDArray[np.bool_], str]:
    """Which words carry content, bool [W], and in words what that means here.

    Args:
        found: the words.
        classes: their parts of speech, if known.
        said: who says so.
    """
    if classes is not None:
        kept = np.array([name in CONTENT for name in classes.tolist()], dtype=np.bool_)
        return kept, f"{', '.join(CONTENT)} by {said}"
    texts = [str(text).casefold() for text in found.words.text.tolist()]
    counts = Counter(texts)
    most = min(_FREQUENT, len(counts) // 10)
    frequent = {text for text, _ in counts.most_common(most)}
    kept = np.array(
        [len(text) > _SHORT and text.isalpha() and text not in frequent for text in texts],
        dtype=np.bool_,
    )
    return kept, (
        f"words of more than {_SHORT} letters that are not among the {most} most frequent of"
        " the references (no tagger was named)"
    )
