"""Running spaCy pipelines: the parts that are needed, each rule worked out once.

What spaCy's rules say of a word is computed once per distinct word, tag and relation. Products of
matrices go to numpy's library, on one thread, which is faster than the one that thinc brings. Steps
of the parser and of the entity recogniser are taken one by one, as spaCy's training takes them,
which costs half of what its greedy loop does. All of it goes by names that spaCy's parsers and
rules show to everybody: a pipeline that is built in another way runs as it is, and so does one
whose steps differ.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

__all__ = ["Pipeline", "load"]


_log = logging.getLogger(__name__)

#: texts that run together
_BATCH = 256
#: spaCy's parsers divide a batch by this, and sort by length what they divide
_DIVIDED = 4
#: words that stay known from batch to batch, so that they are not made anew: some 15 MB
_KNOWN_WORDS = 1 << 16
# entities first: they must not depend on whether the parser runs (it would set sentence bounds)
_RUNS = {
    "ent": ("ner",),
    "pos": ("tagger", "morphologizer", "attribute_ruler"),
    "dep": ("parser",),
    "head": ("parser",),
    "lemma": (
        "tagger",
        "morphologizer",
        "attribute_ruler",
        "lemmatizer",
        "trainable_lemmatizer",
    ),
}
_UPSTREAM = ("tok2vec", "transformer", "curated_transformer")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Pipeline:
    """The parts of a pipeline that some layers need."""

    nlp: Any
    order: tuple[str, ...]
    gratis: tuple[str, ...]
    rules: RuleTable | None
    parsers: Mapping[str, _Parser]

    def run(self, texts: Sequence[str], *, tabulated: bool = False) -> list[Any]:
        """The texts as spaCy's documents."""
        from threadpoolctl import threadpool_limits

        docs = [self.nlp.make_doc(_SURROGATES.sub("\ufffd", text)) for text in texts]
        with threadpool_limits(1, user_api="blas"):
            for name in self.order:
                if tabulated and self.rules and name == self.rules.name:
                    continue
                component = self.nlp.get_pipe(name)
                if name in self.parsers:
                    docs = self.parsers[name].parsed(docs)
                elif hasattr(component, "pipe"):
                    docs = list(component.pipe(docs, batch_size=_BATCH))
                else:
                    docs = [component(doc) for doc in docs]
        return docs

    def labels(self, docs: Sequence[Any]) -> Iterator[list[str]]:
        """Part of speech and morphology of every token of documents that ran."""
        if self.rules:
            return self.rules.labels(docs)
        return ([label_of(token) for token in doc] for doc in docs)

    def zone(self) -> contextlib.AbstractContextManager[Any]:
        """Frees the words of the texts afterwards (spaCy 3.8 and later), once many are known."""
        frees = hasattr(self.nlp, "memory_zone") and len(self.nlp.vocab) > _KNOWN_WORDS
        return self.nlp.memory_zone() if frees else contextlib.nullcontext()


@lru_cache(maxsize=4)
def load(package: str, version: str, layers: tuple[str, ...]) -> Pipeline:
    """Load the parts that some layers need, and put them in the order to run."""
    import spacy

    folder = Path(spacy.util.get_package_path(package)) / f"{package}-{version}"
    config = spacy.util.load_config(folder / "config.cfg")
    rules = _rules(folder)
    order = _order(config, layers, rules_read_arcs=_read_arcs(rules))
    with _products_by_numpy():
        nlp = spacy.load(
            package, exclude=[name for name in config["components"] if name not in order]
        )
    factories = {name: config["components"][name]["factory"] for name in order}
    return Pipeline(
        nlp,
        order,
        ("dep",) if "parser" in factories.values() else (),
        RuleTable.build(nlp, factories, rules),
        {
            name: _Parser(nlp.get_pipe(name))
            for name in order
            if hasattr(nlp.get_pipe(name), "moves")
        },
    )


def _order(
    config: Mapping[str, Any], layers: Sequence[str], *, rules_read_arcs: bool
) -> tuple[str, ...]:
    factories = {
        name: component.get("factory", name) for name, component in config["components"].items()
    }
    wanted = {factory for layer in layers for factory in _RUNS[layer]}
    if rules_read_arcs and not {"pos", "lemma"}.isdisjoint(layers):
        wanted.add("parser")
    names = [name for name in config["nlp"]["pipeline"] if factories[name] in wanted]
    if any("Listener" in json.dumps(config["components"][n], default=str) for n in names):
        names += [n for n in config["nlp"]["pipeline"] if factories[n] in _UPSTREAM]
    positions = {name: i for i, name in enumerate(config["nlp"]["pipeline"])}
    return tuple(
        sorted(
            names,
            key=lambda n: (factories[n] not in _UPSTREAM, factories[n] != "ner", positions[n]),
        )
    )


def _rules(folder: Path) -> list[dict[str, Any]]:
    """The rules of the attribute ruler."""
    import srsly

    path = folder / "attribute_ruler" / "patterns"
    return list(srsly.read_msgpack(path)) if path.is_file() else []


def _read_arcs(rules: Sequence[Mapping[str, Any]]) -> bool:
    """True if rules set parts of speech or morphology by dependency relation."""
    return any(
        "DEP" in token and "IS_SPACE" not in token
        for rule in rules
        if not set(rule["attrs"]).isdisjoint({"POS", "MORPH", "TAG"})
        for pattern in rule["patterns"]
        for token in pattern
    )


def _products_by_numpy() -> contextlib.AbstractContextManager[Any]:
    """Products of matrices by numpy, where thinc would take its own library for them."""
    from thinc.api import get_current_ops, use_ops

    if get_current_ops().name != "numpy":  # Apple's, or a GPU
        return contextlib.nullcontext()
    chosen: contextlib.AbstractContextManager[Any] = use_ops("numpy", use_blis=False)
    return chosen


# Steps of parsers and of recognisers of entities.


#: texts by which our steps are compared with spaCy's
_CHECKED = 8
#: attributes of tokens that a parser sets
_PARSED = ("HEAD", "DEP", "SENT_START", "ENT_IOB", "ENT_TYPE")


@dataclass
class _Parser:
    """Goes from step to step for all texts at once, with the lock of Python held.

    spaCy's own loop gives the lock away and asks for it again several times per step and
    transition, which takes as long as all the rest.
    """

    component: Any
    same: bool = True
    checked: int = 0

    def parsed(self, docs: list[Any]) -> list[Any]:
        """The documents with what the component says of them."""
        if self.same and self.checked < _CHECKED:
            some = docs[:: max(1, len(docs) // _CHECKED)]
            self.same = self._agrees(some)
            self.checked += sum(len(doc) > 1 for doc in some)
        if not self.same:
            return list(self.component.pipe(docs, batch_size=_BATCH * _DIVIDED))
        self._parse(docs)
        return docs

    def _agrees(self, docs: Sequence[Any]) -> bool:
        ours, theirs = ([doc.copy() for doc in docs] for _ in range(2))
        theirs = list(self.component.pipe(theirs, batch_size=_BATCH * _DIVIDED))
        try:
            if self.component.cfg["beam_width"] != 1:
                return False
            self._parse(ours)
        except Exception as error:  # noqa: BLE001  # of another spaCy's inside: its own loop serves
            _log.debug("steps of %s are left to spaCy: %s", self.component.name, error)
            return False
        pairs = zip(ours, theirs, strict=True)
        same = all(np.array_equal(*(doc.to_array(_PARSED) for doc in pair)) for pair in pairs)
        if not same:
            _log.debug("steps of %s differ and are left to spaCy", self.component.name)
        return same

    def _parse(self, docs: Sequence[Any]) -> None:
        component = self.component
        states = component.moves.init_batch(docs)
        if any(len(doc) for doc in docs):
            model = component.model.predict(docs)
            going = [state for state in states if not state.is_final()]
            while going:
                going = component.transition_states(going, model.predict(going))
            model.clear_memory()
        component.set_annotations(docs, states)


# Rules by word.


#: attributes that tabulated rules may ask for: word, tag, relation
_ASKED = frozenset(("DEP", "IS_SPACE", "LOWER", "ORTH", "TAG", "TEXT"))
_SAID = frozenset(("POS", "MORPH"))
_MOST_WORDS = 1 << 18


@dataclass
class RuleTable:
    """Part of speech and morphology by tag, relation and word, by the attribute ruler."""

    name: str
    nlp: Any
    single: Any
    longer: Any
    known: dict[tuple[int, int, int], str] = field(default_factory=dict)

    @classmethod
    def build(
        cls, nlp: Any, factories: Mapping[str, str], rules: Sequence[Mapping[str, Any]]
    ) -> RuleTable | None:
        """The table of a pipeline's ruler; None where its rules ask for more than tables hold."""
        from spacy.matcher import Matcher
        from spacy.pipeline import AttributeRuler

        names = [name for name, factory in factories.items() if factory == "attribute_ruler"]
        if len(names) != 1 or "morphologizer" in factories.values() or not _simple(rules):
            return None
        single = AttributeRuler(nlp.vocab)
        longer = Matcher(nlp.vocab)
        for number, rule in enumerate(rules):
            some = [pattern for pattern in rule["patterns"] if len(pattern) == 1]
            if some:
                single.add(some, rule["attrs"], rule["index"])
            others = [pattern for pattern in rule["patterns"] if len(pattern) > 1]
            if others and not _SAID.isdisjoint(rule["attrs"]):
                longer.add(str(number), others)
        return cls(names[0], nlp, single, longer)

    def labels(self, docs: Sequence[Any]) -> Iterator[list[str]]:
        """The label of every token of each document; empty for white space, or without any."""
        if len(self.known) > _MOST_WORDS:
            self.known.clear()
        keys = [self._keys(doc) for doc in docs]
        self._learn(set(chain.from_iterable(keys)).difference(self.known))
        for doc, some in zip(docs, keys, strict=True):
            if len(self.longer) and self.longer(doc, allow_missing=True):
                yield [label_of(token) for token in self.nlp.get_pipe(self.name)(doc)]
            else:
                yield [self.known[key] for key in some]

    def _keys(self, doc: Any) -> list[tuple[int, int, int]]:
        return [
            (tag, dep, orth) for tag, dep, orth in doc.to_array(["TAG", "DEP", "ORTH"]).tolist()
        ]

    def _learn(self, new: Collection[tuple[int, int, int]]) -> None:
        from spacy.tokens import Doc

        if not new:
            return
        strings = self.nlp.vocab.strings
        columns = [[strings[number] for number in column] for column in zip(*new, strict=True)]
        tags, relations, words = columns
        heads = list(range(len(words)))
        doc = Doc(self.nlp.vocab, words=words, tags=tags, deps=relations, heads=heads)
        self.known.update(zip(new, map(label_of, self.single(doc)), strict=True))


def _simple(rules: Sequence[Mapping[str, Any]]) -> bool:
    """True if rules go by words, tags and relations, and change relations of white space only."""
    for rule in rules:
        tokens = [token for pattern in rule["patterns"] for token in pattern]
        if any(not _ASKED.issuperset(token) for token in tokens):
            return False
        changed = {"TAG", "DEP"}.intersection(rule["attrs"])
        if changed and not all(token.get("IS_SPACE") is True for token in tokens):
            return False
    return True


def label_of(token: Any) -> str:
    """Part of speech and morphology of a token; empty for white space, or without any."""
    label: str = token.pos_
    if token.is_space or not label:
        return ""
    morph = str(token.morph)
    return f"{label}|{morph}" if morph else label
