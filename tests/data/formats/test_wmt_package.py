from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.data.formats.published_sets import OUTPUTS, POST_EDITS, SOURCES, fill

from gnomon import TestSet
from gnomon.core.errors import FormatError, LengthMismatchError, MissingFileError, UsageError
from gnomon.data.formats import language_pairs, read_human

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = "input/wmt17-metrics-task-no-hybrids/wmt17-submitted-data/txt"
SEGMENTS = "manual-evaluation/DA-seglevel.csv"
# the package of the WMT 2017 metrics task
PACKAGE = {
    f"{TEXTS}/sources/newstest2017-csen-src.cs": SOURCES,
    f"{TEXTS}/references/newstest2017-csen-ref.en": POST_EDITS,
    f"{TEXTS}/system-outputs/newstest2017/cs-en/newstest2017.online-B.0.cs-en": OUTPUTS,
    f"{TEXTS}/system-outputs/newstest2017/cs-en/newstest2017.uedin-nmt.4955.cs-en": POST_EDITS,
    f"{TEXTS}/sources/newstest2017-deen-src.de": SOURCES,
    f"{TEXTS}/references/newstest2017-deen-ref.en": POST_EDITS,
    f"{TEXTS}/system-outputs/newstest2017/de-en/newstest2017.KIT.4951.de-en": OUTPUTS,
    SEGMENTS: [
        "LP DATA SYSTEM SID HUMAN",
        "cs-en newstest2017 online-B.0 1 0.25",
        "cs-en newstest2017 online-B.0+uedin-nmt.4955 3 -1.5",
        "de-en newstest2017 KIT.4951 2 0.75",
    ],
    "manual-evaluation/DA-syslevel.csv": [
        "LP HUMAN SYSTEM",
        "cs-en 0.3 uedin-nmt.4955",
        "cs-en -0.1 online-B.0",
    ],
}
SAMPLE = {
    "DAseg.newstest2016.source.cs-en": SOURCES,
    "DAseg.newstest2016.reference.cs-en": POST_EDITS,
    "DAseg.newstest2016.mt-system.cs-en": OUTPUTS,
    "DAseg.newstest2016.human.cs-en": ["-0.5", "0.25 ", "1.5"],
}


def test_a_package_is_read_with_its_judgements(tmp_path: Path) -> None:
    fill(tmp_path, PACKAGE)
    testset = TestSet.read(tmp_path, language_pair="cs-en")
    assert (testset.name, testset.language_pair) == ("newstest2017", "cs-en")
    assert list(testset.systems) == ["online-B.0", "uedin-nmt.4955"]
    assert testset.references["A"] == tuple(POST_EDITS)
    nan = np.nan
    np.testing.assert_array_equal(
        testset.human_scores("da-z"), [[0.25, nan, -1.5], [nan, nan, -1.5]]
    )
    assert testset.human_scores("da-z", "system").tolist() == [-0.1, 0.3]
    german = TestSet.read(tmp_path / "de-en")
    np.testing.assert_array_equal(german.human_scores("da-z"), [[nan, 0.75, nan]])
    assert german.sources == tuple(SOURCES)


def test_the_texts_alone_are_a_set_too(tmp_path: Path) -> None:
    fill(tmp_path, PACKAGE)
    assert language_pairs(tmp_path / TEXTS) == ("cs-en", "de-en")
    testset = TestSet.read(tmp_path / TEXTS, language_pair="de-en", systems=["KIT.4951"])
    assert not testset.human
    found = read_human(tmp_path / SEGMENTS, testset)
    assert found.scores[0].kind == "da-z"
    with pytest.raises(UsageError, match=r"holds 2 test sets; .*or a language pair with -l"):
        TestSet.read(tmp_path / TEXTS)


def test_a_damaged_package_is_named_with_file_and_line(tmp_path: Path) -> None:
    fill(tmp_path, PACKAGE)
    rows = PACKAGE[SEGMENTS]
    for damaged, problem in (
        (rows[1].replace("0.25", "x"), r"DA-seglevel\.csv:2: HUMAN is 'x'"),
        (rows[1].replace(" 1 ", " 4 "), r"DA-seglevel\.csv:2: segment is '4'"),
        ("cs-en newstest2017 online-B.0", r"DA-seglevel\.csv:2: 3 fields; 5 are expected"),
    ):
        fill(tmp_path, {SEGMENTS: [rows[0], damaged, *rows[2:]]})
        with pytest.raises(FormatError, match=problem):
            TestSet.read(tmp_path / "cs-en")
    fill(tmp_path, PACKAGE)
    fill(tmp_path, {f"{TEXTS}/references/newstest2017-csen-ref.en": ["one"]})
    with pytest.raises(LengthMismatchError, match=r"src\.cs has 3 lines, .*ref\.en has 1"):
        TestSet.read(tmp_path / "cs-en")
    (tmp_path / TEXTS / "references/newstest2017-csen-ref.en").unlink()
    with pytest.raises(MissingFileError, match=r"newstest2017-csen-ref\.en"):
        TestSet.read(tmp_path / "cs-en")


def test_sampled_sentences_are_one_system(tmp_path: Path) -> None:
    fill(tmp_path, SAMPLE)
    for place in ("", "DAseg.newstest2016.human.cs-en", "cs-en"):
        testset = TestSet.read(tmp_path / place)
        assert testset.language_pair == "cs-en"
        assert testset.human_scores("da-z").tolist() == [[-0.5, 0.25, 1.5]]
        assert testset.references["A"] == tuple(POST_EDITS)
    older = {name.removeprefix("DAseg."): lines for name, lines in SAMPLE.items()}
    assert TestSet.read(fill(tmp_path / "2015", older)).name == "newstest2016"


def test_damaged_samples_are_named(tmp_path: Path) -> None:
    fill(tmp_path, SAMPLE | {"DAseg.newstest2016.human.cs-en": ["1", "two", "3"]})
    with pytest.raises(FormatError, match=r"human\.cs-en:2: \.human\.LP is 'two'"):
        TestSet.read(tmp_path)
    fill(tmp_path, SAMPLE | {"DAseg.newstest2016.human.cs-en": ["1", "2"]})
    with pytest.raises(LengthMismatchError, match=r"source\.cs-en has 3 lines, .*human"):
        TestSet.read(tmp_path)
    (tmp_path / "DAseg.newstest2016.human.cs-en").unlink()
    with pytest.raises(MissingFileError, match=r"there is no file DAseg\.newstest2016\.human"):
        TestSet.read(tmp_path)


def test_an_output_of_another_length_is_left_out_and_said(tmp_path: Path, caplog) -> None:
    fill(tmp_path, PACKAGE)
    folder = tmp_path / TEXTS / "system-outputs/newstest2017/cs-en"
    whole = TestSet.read(tmp_path / TEXTS / "cs-en")
    (folder / "newstest2017.odd.cs-en").write_text("one line\n")
    assert TestSet.read(tmp_path / TEXTS / "cs-en").systems == whole.systems
    assert "newstest2017.odd.cs-en is left out: it has 1 lines for 3 segments" in caplog.text
