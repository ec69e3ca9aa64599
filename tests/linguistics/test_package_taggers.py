"""Taggers that packages bring, and the tables that map their tags."""

from __future__ import annotations

import pytest

from gnomon.core.errors import MissingDependencyError, UnknownNameError
from gnomon.linguistics import find_tagger
from gnomon.linguistics.feature_names import UPOS
from gnomon.linguistics.package_taggers import (
    TABLES,
    PackageTagger,
    Piece,
    map_tags,
    package_versions,
)


def test_tables_hold_parts_of_speech() -> None:
    for table in TABLES.values():
        given = {*table["tags"].values(), *(rule.get("upos", "X") for rule in table["rules"])}
        assert given <= {*UPOS, "X"}


def test_words_are_told_by_tags_and_neighbours_and_joined() -> None:
    text = "공부했다 👍🏽"
    pieces = [
        Piece(0, 2, "NNG", "공부"),
        Piece(2, 3, "XSV+EP", "하다"),
        Piece(3, 4, "EF"),
        Piece(5, 6, "SY", "👍"),
        Piece(6, 7, "SY", "🏽"),
    ]
    assert map_tags("mecab:ko", text, pieces) == [
        Piece(0, 4, "VERB", "공부하다"),
        Piece(5, 7, "SYM", "👍"),
    ]
    beside = [Piece(0, 2, "名詞-普通名詞-サ変可能", "勉強"), Piece(2, 3, "動詞-非自立可能", "する")]
    assert [word.tag for word in map_tags("sudachi:ja", "勉強し", beside)] == ["VERB", "AUX"]


@pytest.mark.parametrize("name", [name for name in TABLES if not package_versions(name)])
def test_a_tagger_whose_package_is_missing_says_how_to_install_it(name: str) -> None:
    with pytest.raises(MissingDependencyError, match=r"pip install 'gnomon\["):
        find_tagger(name)


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="sudachi:ja"):
        PackageTagger("sudachi:jp")
