"""Format of lists of words in the rules, and its reader."""

from __future__ import annotations

from itertools import combinations


def words(*lines: str) -> frozenset[str]:
    """The words of some lines, which white space parts.

    >>> sorted(words("the a", "an"))
    ['a', 'an', 'the']
    """
    return frozenset(" ".join(lines).split())


def pairs(*lines: str, both: bool = True) -> dict[str, str]:
    """Words and their counterparts, of lines "few many, low high"; a space is an underscore.

    >>> pairs("few many, low high")
    {'few': 'many', 'many': 'few', 'low': 'high', 'high': 'low'}
    """
    words: dict[str, str] = {}
    for pair in (pair for line in lines for pair in line.split(",")):
        first, second = (word.replace("_", " ") for word in pair.split())
        words[first] = second
        if both:
            words[second] = first
    return words


def endings(pairs_of_stems: dict[str, str], *suffixes: str) -> dict[str, str]:
    """Pairs of words with each of some endings ("gut schlecht" with "e": "gute", "schlechte")."""
    return {
        first + suffix: second + suffix
        for first, second in pairs_of_stems.items()
        for suffix in suffixes
    }


def regular_verbs(*lines: str, both: bool = True) -> dict[str, str]:
    """The forms of regular verbs: "accept reject" also as "accepts", "accepted", "accepting"."""
    words: dict[str, str] = {}
    for first, second in pairs(*lines, both=both).items():
        words.update(zip(_forms(first), _forms(second), strict=True))
    return words


def _forms(verb: str) -> tuple[str, str, str, str]:
    if verb.endswith("e"):
        return verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x")) else f"{verb}s"
    return verb, third, f"{verb}ed", f"{verb}ing"


def families(*lines: str) -> dict[str, tuple[str, ...]]:
    """Words of one family in several parts of speech, each with the others."""
    related: dict[str, tuple[str, ...]] = {}
    for line in ",".join(lines).split(","):
        for first, second in combinations(line.split(), 2):
            related[first] = (*related.get(first, ()), second)
            related[second] = (*related.get(second, ()), first)
    return related
