"""Language detection by script and most frequent words.

Nothing has to be installed for it. It is a guess that a person confirms.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from gnomon.core.data_files import data_beside
from gnomon.core.scripts import main_script, unspaced_language

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["guess_language"]

_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 20_000
_FEWEST, _SHARE, _CLEAR = 5, 0.08, 1.15


def guess_language(lines: Sequence[str]) -> str | None:
    """The code of the language of some lines; None where that is not clear.

    >>> guess_language(["Das ist nicht der Weg, den wir mit dem Auto zu der Stadt fahren."])
    'de'
    >>> guess_language(["42", "OK"]) is None
    True
    """
    unspaced = unspaced_language(lines)
    if unspaced is not None:
        return unspaced
    step = max(1, sum(map(len, lines)) // _SAMPLE)
    text = " ".join(lines[::step]).casefold()
    script = main_script(text)
    known = data_beside(__file__)
    language: str | None = known["scripts"].get(script)
    if language is not None:
        return language
    counts = Counter(text)
    for language, letters in known["letters"].get(script, {}).items():
        if sum(counts[letter] for letter in letters) > counts.total() / 200:
            return language
    if script == "ARABIC":
        return "ar"
    words = Counter(_WORD.findall(text))
    hits = {
        language: sum(words[word] for word in set(frequent.split()))
        for language, frequent in known["words"].items()
    }
    best: str
    (best, most), (_, second) = sorted(hits.items(), key=lambda item: -item[1])[:2]
    if most < max(_FEWEST, _SHARE * words.total()) or most < _CLEAR * second:
        return None
    return best
