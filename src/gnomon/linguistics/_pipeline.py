"""Running spaCy pipelines: the parts that are needed, each vector and each rule worked out once.

Texts of one test set say the same things in much the same words. So what spaCy computes of a word
is computed once per distinct word of a batch, what it computes of a word and its neighbours once
per distinct neighbourhood, and what its rules say of a word once per distinct word, tag and
relation. Products of matrices go to numpy's library, on one thread, which is faster than the one
that thinc brings. Steps of the parser and of the entity recogniser are taken one by one, as
spaCy's training takes them, which costs half of what its greedy loop does. All of it goes by names
that thinc's layers, spaCy's parsers and rules show to everybody: a pipeline that is built in
another way runs as it is, and so does one whose vectors or steps differ.
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

    from numpy.typing import NDArray

_log = logging.getLogger(__name__)

#: texts whose words and neighbourhoods are shared
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
    parts = {name: nlp.get_pipe(name) for name in order}
    for component in parts.values():
        _share(component)
    return Pipeline(
        nlp,
        order,
        ("dep",) if "parser" in factories.values() else (),
        RuleTable.of(nlp, factories, rules),
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
    """Whether rules set parts of speech or morphology by dependency relation."""
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


# Vectors of words in their neighbourhoods.


#: hashed features of words, mixed, then layers that each see one neighbour on either side
_CONVOLUTION = re.compile(
    r"extract_features>>list2ragged>>with_array\((ints-getitem>>hashembed\|?)+\)"
    r">>with_array\(maxout>>layernorm(>>dropout)?\)>>ragged2list"
    r">>with_array\((residual\(expand_window>>maxout>>layernorm(>>dropout)?\)(>>)?){2,}\)"
)
_CHECKED = 8  # texts
_CLOSE = 1e-3
#: distinct neighbourhoods, so that three fit into a number of 63 bits
_MOST = 1 << 21


def _share(component: Any) -> None:
    """Let the vectors of a part of a pipeline be computed once per distinct neighbourhood."""
    whole: Any = getattr(component, "model", None)
    for layer in list(whole.walk()) if hasattr(whole, "walk") else ():
        if not _CONVOLUTION.fullmatch(layer.name) or not layer.has_ref("encode"):
            continue
        convolutions = layer.get_ref("encode").layers[0].layers
        if any(
            convolution.layers[0].layers[0].attrs["window_size"] != 1
            for convolution in convolutions
        ):
            continue
        if layer is whole:
            component.model = _SharedVectors(layer).layer()
        else:
            whole.replace_node(layer, _SharedVectors(layer).layer())


@dataclass
class _SharedVectors:
    """Computes what a layer of convolutions would, each distinct neighbourhood once."""

    whole: Any
    same: bool | None = None

    def layer(self) -> Any:
        """As a layer of thinc."""
        from thinc.api import Model

        def forward(_: Any, docs: Sequence[Any], is_train: bool) -> Any:  # noqa: FBT001  # thinc's
            if is_train:
                return self.whole.begin_update(docs)
            return self.vectors(docs), lambda _: []

        name = f"shared({self.whole.name})"
        return Model(name, forward, dims={"nO": self.whole.get_dim("nO")})

    def vectors(self, docs: Sequence[Any]) -> list[NDArray[np.float32]]:
        """The vectors of the tokens of each document."""
        if self.same is None:
            ours, theirs = (f(docs[:_CHECKED]) for f in (self._shared, self.whole.predict))
            pairs = zip(ours, theirs, strict=True)
            self.same = all(np.allclose(o, t, rtol=_CLOSE, atol=_CLOSE) for o, t in pairs)
            if not self.same:
                _log.debug("vectors of spaCy's layer %s are not shared", self.whole.name)
        return self._shared(docs) if self.same else list(self.whole.predict(docs))

    def _shared(self, docs: Sequence[Any]) -> list[NDArray[np.float32]]:
        extract, _, hashed, mixed, _ = self.whole.get_ref("embed").layers
        encode = self.whole.get_ref("encode")
        features = extract.predict(docs)
        rows = np.concatenate(features)
        if not len(rows):
            return list(self.whole.predict(docs))
        lengths = np.array([len(some) for some in features])
        gap = encode.attrs["pad"]  # between texts: no layer sees across
        places = np.arange(len(rows)) + np.repeat(gap * np.arange(1, len(docs) + 1), lengths)
        distinct, number = _distinct_rows(rows)
        vectors = mixed.predict(hashed.predict(distinct))
        vectors = np.concatenate([np.zeros_like(vectors[:1]), vectors])
        sequence = np.zeros(len(rows) + gap * (len(docs) + 1), dtype=np.int64)
        sequence[places] = number + 1
        for residual in encode.layers[0].layers:
            if len(vectors) >= _MOST:
                return list(self.whole.predict(docs))
            rest = residual.layers[0].layers[1]
            # what stands at either end is a gap, which no text sees to its end
            ends = np.concatenate([sequence[:1], sequence, sequence[-1:]])
            three = np.stack([ends[:-2], sequence, ends[2:]], axis=1)
            keys = (three[:, 0] * len(vectors) + three[:, 1]) * len(vectors) + three[:, 2]
            _, first, sequence = np.unique(keys, return_index=True, return_inverse=True)
            windows = three[first]
            around = vectors[windows].reshape(len(windows), -1)
            vectors = vectors[windows[:, 1]] + rest.predict(around)
        return np.split(vectors[sequence[places]], np.cumsum(lengths)[:-1])


def _distinct_rows(rows: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The distinct rows, and for each row which of them it is."""
    keys = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        keys = (keys ^ column) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(32)
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    distinct = rows[first]
    if np.array_equal(distinct[number], rows):
        return np.ascontiguousarray(distinct), number
    distinct, number = np.unique(rows, axis=0, return_inverse=True)  # two rows had one key
    return distinct, number.reshape(-1)


# Steps of parsers and of recognisers of entities.


#: what a parser says of tokens
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


# What rules say of words.


#: what of a token a rule may ask, if it is to be tabulated: its word, its tag, its relation
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
    def of(
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
    """Whether rules go by words, tags and relations, and change relations of white space only."""
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
