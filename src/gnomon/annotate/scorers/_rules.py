"""Base forms of English words by rule, where no tagger tells them.

The rules undo the regular endings and know the commonest irregular forms. They propose; a lexicon
that lacks a proposal lets the next one be tried. A word that the lexicon knows as it stands is
never reduced.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["rule_lemmas"]

_VOWELS = frozenset("aeiouy")
_REPLACED = (
    ("ies", ("y", "ie")),
    ("ied", ("y", "ie")),
    ("ying", ("y", "ie")),
    ("ves", ("f", "fe", "ve")),
    ("men", ("man",)),
    ("ier", ("y",)),
    ("iest", ("y",)),
)
_ADDED = ("ed", "ing", "er", "est")
_KEEP_DOUBLE = frozenset("lsfz")  # called, missed, stuffed, buzzed: the double belongs to the stem

# base form: its irregular forms
_IRREGULAR = """
arise: arose arisen; bear: bore borne; beat: beaten; become: became; begin: began begun;
bend: bent; bind: bound; bite: bit bitten; bleed: bled; blow: blew blown; break: broke broken;
breed: bred; bring: brought; build: built; burn: burnt; buy: bought; can: ca; catch: caught;
choose: chose chosen; cling: clung; come: came; creep: crept; deal: dealt; dig: dug;
do: does did done doing; draw: drew drawn; dream: dreamt; drink: drank drunk; drive: drove driven;
eat: ate eaten; fall: fell fallen; feed: fed; feel: felt; fight: fought; find: found; flee: fled;
fling: flung; fly: flew flown; forbid: forbade forbidden; forget: forgot forgotten;
forgive: forgave forgiven; freeze: froze frozen; get: got gotten; give: gave given;
go: goes went gone going; grind: ground; grow: grew grown; hang: hung; have: has had; hear: heard;
hide: hid hidden; hold: held; keep: kept; kneel: knelt; know: knew known; lay: laid; lead: led;
lean: leant; leap: leapt; learn: learnt; leave: left; lend: lent; lie: lay lain lying; light: lit;
lose: lost; make: made; mean: meant; meet: met; mistake: mistook mistaken; pay: paid;
prove: proven; ride: rode ridden; ring: rang rung; rise: rose risen; run: ran; say: said;
see: saw seen; seek: sought; sell: sold; send: sent; sew: sewn; shake: shook shaken; shall: sha;
shine: shone; shoot: shot; show: shown; shrink: shrank shrunk; sing: sang sung; sink: sank sunk;
sit: sat; sleep: slept; slide: slid; smell: smelt; speak: spoke spoken; speed: sped; spend: spent;
spin: spun; spring: sprang sprung; stand: stood; steal: stole stolen; stick: stuck; sting: stung;
stride: strode; strike: struck stricken; strive: strove striven; swear: swore sworn; sweep: swept;
swell: swollen; swim: swam swum; swing: swung; take: took taken; teach: taught; tear: tore torn;
tell: told; think: thought; throw: threw thrown; understand: understood; wake: woke woken;
wear: wore worn; weave: wove woven; weep: wept; will: wo; win: won; wind: wound;
write: wrote written;
be: am is are was were been being;
child: children; foot: feet; goose: geese; louse: lice; mouse: mice; ox: oxen; person: people;
tooth: teeth; crisis: crises; analysis: analyses; thesis: theses; hypothesis: hypotheses;
phenomenon: phenomena; criterion: criteria; datum: data; medium: media; bacterium: bacteria;
good: better best; bad: worse worst; far: farther farthest further furthest; little: less least;
much: more most
"""


def _read(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for entry in text.split(";"):
        base, _, forms = entry.partition(":")
        for form in forms.split():
            found[form] = (*found.get(form, ()), base.strip())
    return found


_BASES = _read(_IRREGULAR)


@lru_cache(maxsize=65536)
def rule_lemmas(word: str) -> tuple[str, ...]:
    """Base forms that a lower-cased English word may have, likeliest first, without itself.

    >>> rule_lemmas("hoping")[:2], rule_lemmas("stories")[0], rule_lemmas("went")
    (('hope', 'hop'), 'story', ('go',))
    """
    if word in _BASES:
        return _BASES[word]
    return tuple(dict.fromkeys(base for base in _regular(word) if _may_be(base) and base != word))


def _may_be(stem: str) -> bool:
    return len(stem) > 1 and not _VOWELS.isdisjoint(stem)


def _regular(word: str) -> Iterator[str]:
    for ending, bases in _REPLACED:
        if word.endswith(ending):
            yield from (word.removesuffix(ending) + base for base in bases)
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        yield word[:-1]
        yield word.removesuffix("es")
    for ending in _ADDED:
        if word.endswith(ending):
            yield from _stems(word.removesuffix(ending))


def _stems(stem: str) -> tuple[str, ...]:
    """What may stand before -ed, -ing, -er, -est: with a mute e, as it is, or undoubled."""
    if not _may_be(stem):
        return ()
    last, before = stem[-1], stem[-2]
    if last == before and last not in _VOWELS:
        both = (stem, stem[:-1])
        return both if last in _KEEP_DOUBLE else both[::-1]
    closed = last not in _VOWELS and before in _VOWELS
    single = closed and (len(stem) < 3 or stem[-3] not in _VOWELS)
    return (stem + "e", stem) if single or last in _VOWELS else (stem, stem + "e")
