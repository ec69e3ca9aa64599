"""Constituency parsers of other libraries, by fakes of their documented interfaces."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from gnomon.core.cache import Cache
from gnomon.core.errors import MissingDependencyError, UnknownNameError, UsageError
from gnomon.linguistics import Mark, parse
from gnomon.linguistics import annotators as _annotators
from gnomon.linguistics import parsers as _parse

if TYPE_CHECKING:
    from tests.linguistics.conftest import Toy


@dataclass
class _StanzaTree:
    """As stanza.models.constituency.parse_tree.Tree: leaves have no children."""

    label: str | None
    children: Sequence[_StanzaTree] = ()


def _leafy(tag: str, word: str) -> _StanzaTree:
    return _StanzaTree(tag, (_StanzaTree(word),))


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, object], None]]:
    """Make a package look installed."""
    known, fakes = importlib.metadata.version, {}
    real = importlib.import_module

    def install(name: str, module: object) -> None:
        fakes[name] = module

    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "1.0" if name in fakes else known(name)
    )
    monkeypatch.setattr(importlib, "import_module", lambda n: fakes[n] if n in fakes else real(n))
    _parse._stanza.cache_clear()
    yield install
    _parse._stanza.cache_clear()


def _stanza(asked: dict[str, object], runs: list[int]) -> SimpleNamespace:
    one = _StanzaTree(
        "ROOT",
        (
            _StanzaTree(
                "S",
                (
                    _StanzaTree("NP-SBJ", (_leafy("-LRB-", "("), _leafy("NN", "a)b c"))),
                    _leafy("VBZ", "is"),
                ),
            ),
        ),
    )
    two = _StanzaTree("ROOT", (_StanzaTree("FRAG", (_leafy("(", "("),)),))

    class Pipeline:
        def __init__(self, lang: str, **options: object) -> None:
            asked.update(options, lang=lang)

        def bulk_process(self, texts: list[str]) -> list[SimpleNamespace]:
            runs.append(len(texts))
            trees = {"one": [one], "both": [one, two], "none": []}
            return [
                SimpleNamespace(sentences=[SimpleNamespace(constituency=t) for t in trees[text]])
                for text in texts
            ]

    return SimpleNamespace(Pipeline=Pipeline)


def test_trees_of_stanza_lose_their_root_and_keep_brackets_as_words(
    pretend: Callable[[str, object], None], tmp_path: object
) -> None:
    asked: dict[str, object] = {}
    runs: list[int] = []
    pretend("stanza", _stanza(asked, runs))
    cache = Cache(f"{tmp_path}/cache")
    found = parse(["one", "both", "none", "one"], tagger="stanza:en", cache=cache)
    assert str(found[0]) == "(S (NP-SBJ (-LRB- -LRB-) (NN a-RRB-b_c)) (VBZ is))"
    assert str(found[1]) == f"( {found[0]} (FRAG (-LRB- -LRB-)))"
    assert found[2] is None
    assert found[3] == found[0]
    assert asked["lang"] == "en"
    assert asked["processors"] == "tokenize,pos,constituency"
    assert asked["download_method"] is None  # nothing is fetched unasked
    assert parse(["both"], tagger="stanza:en", cache=cache) == found[1:2]
    assert runs == [3]  # equal texts once, and known ones not at all


def test_a_tree_that_is_nested_too_deeply_is_none(pretend: Callable[[str, object], None]) -> None:
    deep = _leafy("NN", "x")
    for _ in range(400):
        deep = _StanzaTree("NP", (deep,))
    document = SimpleNamespace(sentences=[SimpleNamespace(constituency=deep)])
    pipeline = SimpleNamespace(bulk_process=lambda texts: [document for _ in texts])
    pretend("stanza", SimpleNamespace(Pipeline=lambda *_, **__: pipeline))
    assert parse(["x"], tagger="stanza:en") == [None]


def test_a_parser_that_is_not_installed_says_how_to_get_it() -> None:
    try:
        importlib.metadata.version("stanza")
    except importlib.metadata.PackageNotFoundError:
        with pytest.raises(MissingDependencyError, match=r"pip install 'gnomon\[stanza\]'"):
            parse(["x"], tagger="stanza:en")
    else:
        pytest.skip("stanza is installed here")


def test_a_model_that_is_missing_says_how_to_fetch_it(
    pretend: Callable[[str, object], None],
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError("resources.json")

    pretend("stanza", SimpleNamespace(Pipeline=missing))
    with pytest.raises(MissingDependencyError, match=r"stanza\.download\('xx'\)"):
        parse(["x"], tagger="stanza:xx")


def test_a_name_that_is_no_parser_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        parse(["x"], tagger="corenlp:en")
    with pytest.raises(UsageError, match="engine:model"):
        parse(["x"], tagger="stanza:")


@dataclass
class _Chain:
    """A tagger that hangs each word on the one before it."""

    model: str
    name: str = "chain:1"
    signature: str = "chain:1/0"
    layers: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {"pos": ("pos",), "head": ()}
    )

    def inventory(self, kind: str) -> Sequence[str]:
        return (f"{kind}:N",)

    def annotate(self, texts: Sequence[str], layers: Sequence[str]) -> list[dict[str, list[Mark]]]:
        labels = {"pos": ("N", "N"), "head": ("0", "-1")}
        return [
            {
                layer: [
                    Mark(word.start(), word.end(), labels[layer][word.start() > 0])
                    for word in re.finditer(r"\w+", text)
                ]
                for layer in layers
            }
            for text in texts
        ]


def test_any_tagger_that_gives_heads_makes_trees(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_annotators, "_registered", {"chain": _Chain, "toy": lambda _: toy})
    done: list[tuple[str, int, int]] = []
    (tree,) = parse(["a b c"], tagger="chain:1", progress=lambda *step: done.append(step))
    assert str(tree) == "(S (NP (N a) (NP (N b) (N c))))"
    assert done == [("parsing", 0, 1), ("parsing", 1, 1)]
    with pytest.raises(UsageError, match="toy:1 does not give"):
        parse(["a b"], tagger="toy:1")
