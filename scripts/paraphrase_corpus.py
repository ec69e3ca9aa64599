"""Write a corpus of paraphrases that a grammar makes, to see whether training and codes work.

    python scripts/paraphrase_corpus.py FOLDER [--pairs 30000] [--test 300] [--seed 0]

Each sentence tells of somebody, a deed, a thing, a quality of it, and a time or place. It has six
forms (active, passive, fronted, cleft, nominalised, and with other words for its frame), and the
form of the target is its sentence code. Content words are made of syllables and belong to no
language. Those of the test set, and the frames that its sentences fill, occur in no training pair,
so that a model passes by rule and by copying, not by heart.

Writes train.tsv and test.tsv (source TAB target), and codes.train.txt and codes.test.txt.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["FORMS", "Sentence", "corpus", "form_of", "main"]

FORMS = ("active", "passive", "fronted", "cleft", "nominal", "reworded")

_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v")
_VOWELS = ("a", "e", "i", "o", "u")
#: each with another wording; the first alone occurs in all forms but "reworded"
_WHEN = (
    ("yesterday", "the day before"),
    ("in spring", "when winter was over"),
    ("last night", "after dark"),
    ("at noon", "in the middle of the day"),
    ("long ago", "in former times"),
)
_WHERE = (
    ("near the river", "on the bank"),
    ("in the village", "where people lived"),
    ("at the gate", "in front of the door"),
    ("on the hill", "up there"),
    ("under the roof", "inside"),
)
_WITH = (("with care", "carefully"), ("in haste", "hastily"), ("for money", "as a paid job"))
#: what a sentence has beside somebody, deed and thing; the last ones are kept for the test
_FRAMES = (
    (_WHEN,),
    (_WHERE,),
    (_WITH,),
    (_WITH, _WHEN),
    (_WHERE, _WITH),
    (_WHEN, _WHERE),
    (_WITH, _WHERE),
)
_HELD_OUT = 2


class Sentence(NamedTuple):
    """What is said; :meth:`said` says how."""

    agent: str
    deed: str
    quality: str
    thing: str
    frame: tuple[tuple[str, str], ...]

    def said(self, form: str) -> str:
        """The sentence in one of the forms."""
        who, what = f"the {self.agent}", f"the {self.quality} {self.thing}"
        deed = f"{self.deed}ed"
        frame = " ".join(usual for usual, _ in self.frame)
        other = " ".join(unusual for _, unusual in self.frame)
        text = {
            "active": f"{who} {deed} {what} {frame}",
            "passive": f"{what} was {deed} by {who} {frame}",
            "fronted": f"{frame}, {who} {deed} {what}",
            "cleft": f"it was {who} that {deed} {what} {frame}",
            "nominal": f"there was {self.deed}ing of {what} by {who} {frame}",
            "reworded": f"{who} {deed} {what} {other}",
        }[form]
        return f"{text[0].upper()}{text[1:]}."


def form_of(text: str) -> str | None:
    """The form of a sentence, read off its frame and function words; None where it has none."""
    plain = text[:-1].lower() if text.endswith(".") else text.lower()
    usual = any(plain.endswith(f" {one}") for one, _ in (*_WHEN, *_WHERE, *_WITH))
    unusual = any(plain.endswith(f" {one}") for _, one in (*_WHEN, *_WHERE, *_WITH))
    patterns = {
        "cleft": r"it was the \w+ that \w+ed the \w+ \w+ ",
        "nominal": r"there was \w+ing of the \w+ \w+ by the \w+ ",
        "passive": r"the \w+ \w+ was \w+ed by the \w+ ",
        "fronted": r"[\w ]+, the \w+ \w+ed the \w+ \w+$",
        "active": r"the \w+ \w+ed the \w+ \w+ ",
    }
    form_found = next((form for form, one in patterns.items() if re.match(one, plain)), None)
    if form_found == "active":
        return "reworded" if unusual else "active" if usual else None
    return form_found


def corpus(
    pairs: int = 30_000, test: int = 300, seed: int = 0
) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:
    """Training and test pairs with the code of the target's form; the same for the same seed."""
    rng = random.Random(seed)  # noqa: S311  # draws of texts, not secrets
    words = ["".join(one) for one in itertools.product(_syllables(), repeat=2)]
    rng.shuffle(words)
    held, common = words[:400], words[400:]
    return (
        [_pair(rng, common, _FRAMES[:-_HELD_OUT]) for _ in range(pairs)],
        [_pair(rng, held, _FRAMES[-_HELD_OUT:]) for _ in range(test)],
    )


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=30_000)
    parser.add_argument("--test", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    both = corpus(args.pairs, args.test, args.seed)
    for name, rows in zip(("train", "test"), both, strict=True):
        text = "".join(f"{source}\t{target}\n" for source, target, _ in rows)
        (args.folder / f"{name}.tsv").write_text(text, encoding="utf-8")
        codes = "".join(f"{code}\n" for *_, code in rows)
        (args.folder / f"codes.{name}.txt").write_text(codes, encoding="utf-8")


def _syllables() -> list[str]:
    return ["".join(pair) for pair in itertools.product(_ONSETS, _VOWELS)]


def _pair(
    rng: random.Random,
    words: list[str],
    frames: tuple[tuple[tuple[tuple[str, str], ...], ...], ...],
) -> tuple[str, str, int]:
    frame = tuple(rng.choice(slot) for slot in rng.choice(frames))
    agent, deed, quality, thing = rng.sample(words, 4)
    sentence = Sentence(agent, deed, quality, thing, frame)
    source, target = rng.sample(range(len(FORMS)), 2)
    return sentence.said(FORMS[source]), sentence.said(FORMS[target]), target


if __name__ == "__main__":
    main()
