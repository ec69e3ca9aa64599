"""The files of a site: whole or not at all, safe whatever the texts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import OutputError
from gnomon.report.html import json_in_html
from gnomon.report.panels import packed
from gnomon.report.site import wrap_script, write_site

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

_BUNDLE = resources.files("gnomon.report") / "static" / "vendor" / "vega.js"
_CALL = re.compile(r"gnomonData\('([a-z0-9-]+)','(.*)'\)\n", re.DOTALL)


def part(folder: Path, key: str) -> Any:
    found = _CALL.fullmatch((folder / "data" / f"{key}.js").read_text(encoding="utf-8"))
    assert found is not None
    assert found[1] == key
    return json.loads(found[2].replace("\\'", "'").replace("\\\\", "\\"))


def about(page: Path) -> Any:
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>',
        page.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert found is not None
    return json.loads(found[1])


def test_a_folder_holds_the_page_and_a_script_for_each_part(
    made: ModuleType, tmp_path: Path
) -> None:
    study = made.study(3, 12)
    write_site(tmp_path / "r", study)
    told = about(tmp_path / "r" / "index.html")
    assert told["sets"][0]["systems"] == list(study.testsets[0].systems)
    assert not told["inside"]
    names = {file.stem for file in (tmp_path / "r" / "data").iterdir()}
    assert {"table-0-0", "text-0-0", "score-0-0-0", "mean-0", "where-0-0"} <= names
    scores = study.testsets[0].scores("bleu")
    assert part(tmp_path / "r", "score-0-0-0")[1] == scores[1].tolist()
    assert part(tmp_path / "r", "score-0-0-0")[0][0] is None


def test_one_file_holds_all_parts_as_data(made: ModuleType, tmp_path: Path) -> None:
    write_site(tmp_path / "r.html", made.study(3, 12))
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert about(tmp_path / "r.html")["inside"]
    for key in ("table-0-0", "text-0-0", "score-0-1-0", "where-0-1"):
        assert f'<script type="application/json" id="part-{key}">' in text
    assert list(tmp_path.iterdir()) == [tmp_path / "r.html"]


def test_texts_and_marks_come_segment_by_segment(made: ModuleType, tmp_path: Path) -> None:
    study = made.study(30, 150)
    write_site(tmp_path / "r", study)
    told = about(tmp_path / "r" / "index.html")["sets"][0]
    assert told["blocks"] == -(-150 // told["block"])
    found = [one for n in range(told["blocks"]) for one in part(tmp_path / "r", f"text-0-{n}")]
    for given_, (document, _, texts, source, references, outputs, scores) in zip(
        study.testsets[0].read(), found, strict=True
    ):
        assert document == given_.document
        assert [text[0] for text in texts] == [text.text for text in given_.texts]
        assert (source, references, outputs) == (
            given_.source, list(given_.references), list(given_.outputs)
        )  # fmt: skip
        assert len(scores) == 2
    layer, ends, values = found[0][2][0][1][2]
    assert (layer, ends[:2], values[0]) == (2, [0, len(found[0][2][0][0].split()[0])], 1.0)


def test_where_a_feature_occurs_is_told_by_bits(made: ModuleType, tmp_path: Path) -> None:
    texts = (made.Text("a", ((0, (0, 1), ()),)), made.Text("b"))
    with_it = made.Segment(texts, None, (0,), (1, 0))
    without = made.Segment(texts, None, (1,), (None, 1))
    segments = tuple(with_it if i in {0, 9} else without for i in range(10))
    testset = made.Set("s", ("x", "y"), 10, own=segments)
    write_site(tmp_path / "r", made.Study((), (testset,)))
    assert part(tmp_path / "r", "where-0-0") == ["0102", "0000", "0102"]
    assert part(tmp_path / "r", "where-0-1") == ["0000", "0000", "0000"]


def test_a_set_without_texts_says_why_and_keeps_its_scores(
    made: ModuleType, tmp_path: Path
) -> None:
    testset = made.Set("s", ("x", "y"), 10, missing=made.TEXTS_GONE)
    write_site(tmp_path / "r", made.Study((), (testset,)))
    told = about(tmp_path / "r" / "index.html")["sets"][0]
    assert (told["missing"], told["blocks"]) == ("the texts are gone", 0)
    assert len(part(tmp_path / "r", "score-0-0-0")) == 2


def test_a_report_replaces_a_report_and_nothing_else(made: ModuleType, tmp_path: Path) -> None:
    place = tmp_path / "r"
    write_site(place, made.study(3, 300))
    write_site(place, made.study(2, 5))
    assert about(place / "index.html")["sets"][0]["segments"] == 5
    assert not list(tmp_path.glob(".*"))
    other = tmp_path / "papers"
    other.mkdir()
    (other / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="holds something else"):
        write_site(other, made.study(2, 5))
    assert [file.name for file in other.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("name", ["no/such/place", "no/such/place.html"])
def test_a_place_that_is_not_there_is_told(made: ModuleType, tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match="does not exist"):
        write_site(tmp_path / name, made.study(2, 5))


def test_a_page_takes_the_place_of_a_link_to_itself(made: ModuleType, tmp_path: Path) -> None:
    for name in ("r", "r.html"):
        (tmp_path / name).symlink_to(name)
    write_site(tmp_path / "r.html", made.study(2, 5))
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(OutputError, match="cannot write"):
        write_site(tmp_path / "r", made.study(2, 5))


@pytest.mark.parametrize("name", ["r", "r.html"])
def test_a_failure_leaves_the_older_report(made: ModuleType, tmp_path: Path, name: str) -> None:
    class Broken(made.Set):  # type: ignore[misc, name-defined]  # a module that is loaded by path
        def read(self) -> Any:
            yield from super().read()
            raise OSError(28, "No space left on device")

    write_site(tmp_path / name, made.study(2, 5))
    with pytest.raises((OSError, OutputError)):
        write_site(tmp_path / name, made.Study((), (Broken("s", ("x",), 3),)))
    page = tmp_path / name / "index.html" if name == "r" else tmp_path / name
    assert about(page)["sets"][0]["segments"] == 5
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_the_policy_allows_the_pages_own_script_and_what_it_adds(
    made: ModuleType, tmp_path: Path
) -> None:
    write_site(tmp_path / "r", made.study(2, 5))
    text = (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert policy is not None
    assert script is not None
    assert style is not None
    said = policy[1].replace("&#39;", "'")
    for kind, inner, more in (("script", script[1], " 'strict-dynamic'"), ("style", style[1], "")):
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'{more};" in said
    assert said.startswith("default-src 'none';")
    own = text.replace(_BUNDLE.read_text("utf-8"), "")  # which asks for nothing under the policy
    assert own != text
    assert "http" not in own.replace("http-equiv", "")
    assert "unsafe" not in said


@given(st.text())
def test_no_text_breaks_out_of_json_or_script(text: str) -> None:
    safe = json_in_html({"text": text})
    assert not set("<>&\u2028\u2029") & set(safe)
    safe.encode()
    assert json.loads(safe)["text"] == text
    call = wrap_script("k-0", safe)
    found = _CALL.fullmatch(call)
    assert found is not None
    assert not re.search(r"(?<!\\)(\\\\)*'", found[2])
    assert "\n" not in found[2]


@given(st.lists(st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=2)))
def test_packed_columns_hold_every_cell(cells: list[Any]) -> None:
    held = packed(cells)
    codes, levels = held.get("codes"), held.get("levels")
    found = [levels[code] for code in codes] if levels is not None else held["cells"]  # type: ignore[index, union-attr]  # as packed gives them
    for cell, again in zip(cells, found, strict=True):
        undefined = isinstance(cell, float) and not abs(cell) < float("inf")
        assert again is None if undefined else again == cell and type(again) is type(cell)
