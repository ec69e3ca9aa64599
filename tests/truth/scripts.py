"""Sentences in scripts that part no words by spaces, drawn from their letters."""

from __future__ import annotations

import random
from collections.abc import Sequence

import gnomon as gn

_HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 300)]
_KANA = [chr(code) for code in range(0x3042, 0x3090)]
#: letters by language, the mark that ends a sentence, and how many letters stand between spaces
SCRIPTS: dict[str, tuple[Sequence[str], str, int]] = {
    "zh": (_HAN, "\u3002", 0),
    "ja": (_HAN[:80] + _KANA, "\u3002", 0),
    "ko": ([chr(code) for code in range(0xAC00, 0xAC00 + 300)], ".", 4),
    "th": ([chr(code) for code in range(0x0E01, 0x0E2F)], "", 14),
    "lo": (list("ກຂຄງຈຊຍດຕຖທນບປຜຝພຟມຢຣລວສຫອຮ"), "", 14),
    "km": ([chr(code) for code in range(0x1780, 0x17A3)], "\u17d4", 14),
    "my": ([chr(code) for code in range(0x1000, 0x1021)], "\u104b", 14),
}
#: words in Latin letters and numbers, as such texts hold them
_OTHERS = ("London", "GPU", "2024", "Python 3.12")


def sentences(language: str, count: int, seed: int = 1) -> list[str]:
    """Sentences of 15 to 30 letters; one in four holds a name or a number."""
    letters, stop, between = SCRIPTS[language]
    draw = random.Random(seed)

    def sentence() -> str:
        text = "".join(draw.choices(letters, k=draw.randint(15, 30)))
        if draw.random() < 0.25:
            at = draw.randrange(len(text))
            text = text[:at] + draw.choice(_OTHERS) + text[at:]
        if between:
            text = " ".join(text[at : at + between] for at in range(0, len(text), between))
        return text + stop

    return [sentence() for _ in range(count)]


def damaged(texts: Sequence[str], language: str, share: float, seed: int) -> list[str]:
    """The texts with a share of their letters replaced by others of the script."""
    letters, draw = SCRIPTS[language][0], random.Random(seed)

    def letter(one: str) -> str:
        return draw.choice(letters) if one in letters and draw.random() < share else one

    return ["".join(map(letter, text)) for text in texts]


def reversed_by_words(language: str, *, given: bool, count: int = 120) -> gn.TestSet:
    """Two systems of which one is better by letters and the other by what spaces part.

    "close" has a few wrong letters in every sentence; "spotty" has a third of the sentences right
    and little of the others.
    """
    own = sentences(language, count)
    spotty = damaged(own, language, 0.75, 3)
    spotty[::3] = own[::3]
    return gn.TestSet.from_lists(
        {"close": damaged(own, language, 0.15, 2), "spotty": spotty},
        own,
        language_pair=language if given else None,
        name=f"planted-{language}",
    )
