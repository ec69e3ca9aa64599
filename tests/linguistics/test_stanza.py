"""Stanza as tagger and parser, by documents as it makes them, without a model."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from gnomon.core.cache import Cache
from gnomon.core.errors import MissingDependencyError
from gnomon.linguistics import annotate, find_tagger, parse, standard_tagger
from gnomon.linguistics import stanza as _stanza

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_REAL = (
    importlib.import_module("stanza.utils.conll") if importlib.util.find_spec("stanza") else None
)
TEXT = "Zum Glück sieht's Anna. 😀 Ja"
CONLLU = """\
# text = Zum Glück sieht's Anna.
1-2	Zum	_	_	_	_	_	_	_	start_char=0|end_char=3|ner=O
1	Zu	zu	ADP	_	_	3	case	_	_
2	dem	der	DET	_	Case=Dat|Definite=Def	3	det	_	_
3	Glück	Glück	NOUN	_	Case=Dat	4	obl	_	start_char=4|end_char=9|ner=O
4-5	sieht's	_	_	_	_	_	_	_	start_char=10|end_char=17|ner=O
4	sieht	sehen	VERB	_	_	0	root	_	start_char=10|end_char=15
5	's	es	PRON	_	_	4	obj	_	start_char=15|end_char=17
6	Anna	Anna	PROPN	_	_	4	nsubj	_	start_char=18|end_char=22|ner=S-PER
7	.	.	PUNCT	_	_	4	punct	_	start_char=22|end_char=23|ner=O

# text = 😀 Ja
1	😀	😀	SYM	_	_	2	discourse	_	start_char=24|end_char=25|ner=O
2	Ja	ja	INTJ	_	_	0	root	_	start_char=26|end_char=28|ner=O

"""
#: what Stanza's list of models says, as far as it is read
RESOURCES = {
    "de": {
        "packages": {
            "default": {
                "tokenize": "combined",
                "mwt": "combined",
                "pos": "combined_charlm",
                "lemma": "combined_nocharlm",
                "depparse": "combined_charlm",
                "ner": "germeval2014",
                "optional": {"constituency": "spmrl_charlm"},
            }
        },
        "pos": {"combined_charlm": {"md5": "0f"}},
    },
    "german": {"alias": "de"},
    "fr": {"packages": {"default": {"pos": "combined_charlm"}}},
}


@dataclass
class _Tree:
    """As stanza.models.constituency.parse_tree.Tree: leaves have no children."""

    label: str | None
    children: Sequence[_Tree] = ()


def _leafy(tag: str, word: str) -> _Tree:
    return _Tree(tag, (_Tree(word),))


def _document(conllu: str) -> Any:
    """A document of Stanza, or something that has as much of it as is read."""
    if _REAL is not None:
        document = _REAL.CoNLL.conll2doc(input_str=conllu)
        document.build_ents()
        return document
    sentences = [_sentence(rows.split("\n")[1:]) for rows in conllu.strip().split("\n\n")]
    ents = [SimpleNamespace(start_char=18, end_char=22, type="PER")]
    return SimpleNamespace(sentences=sentences, ents=ents)


def _sentence(rows: Sequence[str]) -> Any:
    tokens, words = [], []
    last = 0
    for number, text, lemma, upos, _, feats, head, relation, _, misc in (
        r.split("\t") for r in rows
    ):
        places = dict(fact.split("=") for fact in misc.split("|") if "_char" in fact)
        place = {name: int(places[name]) if places else None for name in ("start_char", "end_char")}
        if "-" in number or int(number) > last:
            tokens.append(SimpleNamespace(words=[], **place))
            last = int(number.partition("-")[2] or number)
        if "-" not in number:
            facts = {"lemma": lemma, "upos": upos, "feats": feats if feats != "_" else None}
            word = SimpleNamespace(text=text, head=int(head), deprel=relation, **facts, **place)
            tokens[-1].words.append(word)
            words.append(word)
    return SimpleNamespace(tokens=tokens, words=words)


@dataclass
class _FakeStanza:
    """The pipeline of the package, and what was asked of it."""

    made: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)
    trees: dict[str, list[_Tree]] = field(default_factory=dict)

    def Pipeline(self, lang: str, **options: Any) -> _FakeStanza:  # noqa: N802  # its name
        if lang == "fr":
            raise FileNotFoundError("combined_charlm.pt")
        self.made.append((lang, options))
        return self

    def bulk_process(self, texts: list[str]) -> list[Any]:
        self.runs.append(len(texts))
        if not self.trees:
            return [_document(CONLLU) for _ in texts]
        token = SimpleNamespace(start_char=0, end_char=1)
        return [
            SimpleNamespace(
                sentences=[
                    SimpleNamespace(constituency=t, tokens=[token]) for t in self.trees[text]
                ]
            )
            for text in texts
        ]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[_FakeStanza]:
    """Make Stanza look installed, with all German models but the optional one."""
    for processor, package in RESOURCES["de"]["packages"]["default"].items():  # type: ignore[index]
        if isinstance(package, str):
            path = tmp_path / "de" / processor / f"{package}.pt"
            path.parent.mkdir(parents=True)
            path.touch()
    (tmp_path / "fr/pos").mkdir(parents=True)
    (tmp_path / "fr/pos/combined_charlm.pt").touch()
    package = _FakeStanza()
    common = SimpleNamespace(
        DEFAULT_MODEL_DIR=str(tmp_path),
        load_resources_json=lambda _: json.loads(json.dumps(RESOURCES)),
    )
    monkeypatch.setitem(sys.modules, "stanza", package)
    monkeypatch.setitem(sys.modules, "stanza.resources.common", common)
    known = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "1.9" if name == "stanza" else known(name)
    )
    _stanza.forget_models()
    yield package
    _stanza.forget_models()


def test_words_bear_what_stanza_says_and_those_of_one_token_share_its_place(
    fake: _FakeStanza,
) -> None:
    tagger = find_tagger("stanza:de")
    kinds = {"pos": ("pos", "morph"), "dep": ("dep",), "ent": ("ent",), "token": ()}
    assert tagger.layers == kinds
    found = annotate(
        [TEXT], ["pos:*", "morph:Case", "ent:*", "dep:case"], tagger=tagger, tokens=True
    )
    marked = {n: [TEXT[s:e] for s, e in found.spans.spans(0, n)] for n in found.spans.features}
    assert marked["pos:ADP"] == marked["pos:DET"] == marked["dep:case"] == ["Zum"]
    assert marked["pos:PRON"] == ["'s"]
    assert marked["morph:Case"] == ["Zum", "Glück"]
    assert marked["ent:PER"] == ["Anna"]
    assert marked["pos:SYM"] == ["😀"]
    (sentence,) = found.sentences
    assert [t.lemma for t in sentence.tokens[:5]] == ["zu", "der", "Glück", "sehen", "es"]
    assert [t.head for t in sentence.tokens] == [2, 2, 3, 3, 3, 3, 3, 8, 8]
    assert sentence.tokens[1].morph == {"Case=Dat", "Definite=Def"}
    ((language, options),) = fake.made
    assert (language, options["download_method"]) == ("de", None)  # nothing is fetched unasked
    assert options["processors"] == "depparse,lemma,mwt,ner,pos,tokenize"


def test_only_the_models_that_are_asked_for_are_loaded(fake: _FakeStanza) -> None:
    annotate([TEXT], ["pos:NOUN"], tagger="stanza:german")
    assert fake.made[0][1]["processors"] == "mwt,pos,tokenize"


def test_a_language_without_other_taggers_is_tagged_by_the_models_there_are(
    fake: _FakeStanza, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon.linguistics.annotators.TABLES", {})
    assert standard_tagger("en-de").name == "stanza:de"
    assert standard_tagger("en").name.startswith("spacy:")


def test_trees_come_from_its_constituents_or_else_from_its_dependencies(
    fake: _FakeStanza, tmp_path: Path
) -> None:
    assert str(parse([TEXT], tagger="stanza:de")[0]).startswith("(S (VERBP (NOUNP (ADP Zum)")
    path = tmp_path / "de/constituency/spmrl_charlm.pt"
    path.parent.mkdir()
    path.touch()
    _stanza.forget_models()
    np = _Tree("NP-SBJ", (_leafy("-LRB-", "("), _leafy("NN", "a)b c")))
    one = _Tree("ROOT", (_Tree("S", (np, _leafy("VBZ", "is"))),))
    two = _Tree("ROOT", (_Tree("FRAG", (_leafy("(", "("),)),))
    deep = _leafy("NN", "x")
    for _ in range(400):
        deep = _Tree("NP", (deep,))
    fake.trees = {"one": [one], "both": [one, two], "none": [], "deep": [deep]}
    cache = Cache(f"{tmp_path}/cache")
    found = parse(["one", "both", "none", "one", "deep"], tagger="stanza:de", cache=cache)
    assert str(found[0]) == "(S (NP-SBJ (-LRB- -LRB-) (NN a-RRB-b_c)) (VBZ is))"
    assert str(found[1]) == f"( {found[0]} (FRAG (-LRB- -LRB-)))"
    assert found[2:] == [None, found[0], None]
    assert parse(["both"], tagger="stanza:de", cache=cache) == found[1:2]
    assert fake.runs == [1, 4]  # equal texts once, and known ones not at all


@pytest.mark.parametrize("language", ["fr", "xx"])
def test_a_model_that_is_missing_says_how_to_fetch_it(fake: _FakeStanza, language: str) -> None:
    with pytest.raises(MissingDependencyError, match=rf"stanza\.download\('{language}'\)"):
        annotate(["x"], ["pos:*"], tagger=f"stanza:{language}")


@pytest.mark.skipif(_REAL is not None, reason="Stanza is installed")
def test_stanza_says_how_it_is_installed() -> None:
    with pytest.raises(MissingDependencyError, match=r"pip install 'gnomon\[stanza\]'"):
        parse(["x"], tagger="stanza:en")
