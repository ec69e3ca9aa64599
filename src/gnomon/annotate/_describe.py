"""Taggers and features as rows for people to read."""

from __future__ import annotations

from gnomon.annotate._inventory import ENTITIES, MORPH, UPOS
from gnomon.annotate._lists import built_in_lists
from gnomon.annotate._protocol import describe, engines, taggers
from gnomon.annotate._setup import MODELS
from gnomon.annotate._spacy import meta_of

__all__ = ["describe_features", "describe_taggers"]


def describe_features() -> list[tuple[str, str, str]]:
    """Rows of name, what it marks, and which installed taggers give it."""
    given = {tagger: describe(tagger) for tagger in taggers()}

    def by(kind: str, name: str = "") -> str:
        hits = [
            t for t, kinds in given.items() if kind in kinds and (not name or name in kinds[kind])
        ]
        return ", ".join(hits) or "none installed"

    entities = {name for kinds in given.values() for name in kinds.get("ent", ())}
    named = sorted({*entities, *(f"ent:{name}" for name in ENTITIES)})
    return [
        *((f"pos:{name}", what, by("pos")) for name, what in UPOS.items()),
        *(
            (n, ENTITIES.get(n[4:], "entities that the tagger calls so"), by("ent", n))
            for n in named
        ),
        *((f"morph:{key}", f"words with {key} of any value", by("morph")) for key in MORPH),
        ("morph:Gender=Fem", "words with this value (any key and value of UD)", by("morph")),
        ("dep:nsubj", "words with this relation to their head", by("dep")),
        ("dep:long>=5", "both ends of arcs over 5 or more words (any number)", by("dep")),
        ("dep:nonprojective", "both ends of arcs that cross another arc", by("dep")),
        ("lex:NAME", "words of a list (--lexicon NAME=FILE)", "built in"),
        *(
            (
                f"lex:{name}",
                f"words of a list that comes with gnomon ({', '.join(files)})",
                "built in",
            )
            for name, files in built_in_lists().items()
        ),
        ("re:NAME", "matches of a pattern (--pattern NAME=REGEX)", "built in"),
        ("KIND:NAME", "your own labels (--labels FILE.conllu or FILE.jsonl)", "built in"),
    ]


def describe_taggers() -> list[tuple[str, str, str]]:
    """Rows of name, language, and whether it is installed or how to install it."""
    names = [tagger.partition(":")[2] for tagger in taggers()]
    return [
        *((f"spacy:{n}", meta_of(n)["lang"], f"installed, {meta_of(n)['version']}") for n in names),
        *((f"{engine}:MODEL", "", "registered") for engine in engines()[1:]),
        *(
            (f"spacy:{model}", language, f"gnomon setup {language}")
            for language, model in MODELS.items()
            if model not in names
        ),
    ]
