"""``gnomon compare`` on the command line."""

from __future__ import annotations

import json

import pytest

CONTRACT = ["system", "baseline", "metric", "score", "difference", "low", "high", "p"]


def _data(files) -> list[object]:
    return [files / "ref.txt", "-i", files / "a.txt", files / "b.txt"]


@pytest.mark.parametrize("shape", ["text", "latex", "markdown"])
def test_people_read_scores_differences_p_segments_and_n_grams(gnomon, files, shape) -> None:
    answer = gnomon("compare", *_data(files), "-m", "bleu", "chrf", "-q", "-f", shape, "--all")
    assert answer.code == 0
    assert not answer.err
    for said in ("Difference", "Verdict", "Influence", "Phrase", "sat on", "seed:12345"):
        assert said in answer.out
    assert "BLEU, compared with a" in answer.out


@pytest.mark.parametrize(
    ("options", "caption"),
    [
        ([], "significantly different from a (paired bootstrap, 1,000 draws, 5% level over this"),
        (["--test", "ar"], "(approximate randomisation, 10,000 draws, 5% level over this one"),
        (["--test", "sacrebleu"], "(sacreBLEU's paired bootstrap, 1,000 draws, 5% level each by"),
        (["--resamples", "0"], "The best are bold.}"),
    ],
)
def test_a_paper_gets_one_table_of_systems_by_metrics(gnomon, files, options, caption) -> None:
    common = ("compare", *_data(files), "-q", "-f", "latex", *options)
    made = gnomon(*common, "-m", "bleu", "ter").out.replace("\\%", "%")
    assert made.count(r"\begin{table}") == 1
    assert "Scores of 2 systems on " in made
    assert caption in made
    assert r"System & BLEU & TER $\downarrow$ \\" in made
    assert r"\label{tab:compare}" in made


def test_programs_get_the_fields_of_the_contract(gnomon, files) -> None:
    common = ["compare", *_data(files), "-m", "bleu", "ter", "-q"]
    found = gnomon(*common, "-f", "json").json()
    assert found["command"] == "compare"
    assert [list(row)[: len(CONTRACT)] for row in found["rows"]] == [CONTRACT] * 4
    assert set(found["tables"]) == {"histogram", "lengths", "words", "segments", "ngrams"}
    assert set(found["signatures"]) == {"bleu", "ter"}
    assert gnomon(*common, "-f", "tsv").out.split("\n")[0].split("\t")[: len(CONTRACT)] == CONTRACT


def test_the_baseline_is_the_first_system_unless_named(gnomon, files) -> None:
    common = ["compare", *_data(files), "-q", "-f", "json"]
    assert {row["baseline"] for row in gnomon(*common).json()["rows"]} == {"a"}
    other = gnomon(*common, "--baseline", "b").json()["rows"]
    assert [row["system"] for row in other] == ["b", "a"]
    assert other[1]["difference"] > 0


def test_sacrebleu_s_option_names_are_understood(gnomon, files) -> None:
    common = ["compare", *_data(files), "-q", "-f", "json"]

    def signature(*options: object) -> str:
        return gnomon(*common, *options).json()["signatures"]["bleu"]

    assert "|test:sacrebleu|bs:60|" in signature("--paired-bs", "--paired-bs-n", 60)
    assert signature("-pbs", "-pbsn", 60) == signature("--test", "sacrebleu", "--resamples", 60)
    assert "|test:ar|bs:1000|ar:10000|" in signature("-par")
    assert "|test:ar|bs:70|ar:70|" in signature("--paired-ar", "--paired-ar-n", 70)
    assert signature("-par", "-parn", 70, "-j", 2) == signature("--test", "ar", "--resamples", 70)
    assert "|test:bootstrap|bs:1000|" in signature()
    assert gnomon(*common, "--paired-ar", "--paired-bs").code == 2


def test_a_worse_system_fails_the_gate_with_3_after_the_table_is_printed(
    gnomon, es_en, tmp_path
) -> None:
    common = ["compare", "-t", es_en, "--systems", "apertium-direct", "apertium-french", "-q"]
    answer = gnomon(*common, "--fail-if-worse", "bleu", "--min-drop", ".3", "-f", "json")
    assert answer.code == 3
    row = answer.json()["rows"][1]
    assert row["verdict"] == "worse"
    assert "apertium-french is worse than apertium-direct under bleu" in answer.err
    assert f" by {-row['difference']:.1f} [" in answer.err
    assert "(p <= .002; smallest drop" in answer.err
    assert gnomon(*common, "--fail-if-worse", "bleu", "--min-drop", "30").code == 0
    undecided = ["--fail-if-worse", "bleu", "--min-drop", -row["difference"] + 0.1, "-f", "tsv"]
    assert gnomon(*common, *undecided).code == 0
    for _ in range(2):
        files = ("--junit", tmp_path / "gate.xml", "--summary", tmp_path / "gate.md")
        answer = gnomon(*common, *undecided, "--strict", *files)
        assert answer.code == 4
        assert "not decided: its gain is -" in answer.err
    assert 'type="undecided"' in (tmp_path / "gate.xml").read_text("utf-8")
    assert (tmp_path / "gate.md").read_text("utf-8").count("### The gate could not tell") == 2
    better = [*common, "--baseline", "apertium-french", "--fail-if-worse", "bleu"]
    assert gnomon(*better).code == 0


def test_what_keeps_a_gate_from_telling_is_told_in_its_files(gnomon, files, tmp_path) -> None:
    (files / "b.txt").write_text("one line\n", encoding="utf-8")
    made = tmp_path / "gate.xml"
    asked = ["compare", *_data(files), "--fail-if-worse", "bleu", "--junit", made]
    answer = gnomon(*asked, "--summary", tmp_path / "gate.md")
    assert answer.code == 1
    assert 'errors="1"' in made.read_text("utf-8")
    summary = (tmp_path / "gate.md").read_text("utf-8")
    assert summary.startswith("### The gate was not reached (gnomon compare)\n\n- ")
    assert answer.err.removeprefix("gnomon: error: ")[:20] in summary
    before = (files / "ref.txt").read_text("utf-8")
    assert gnomon(*asked[:-1], files / "ref.txt").code == 2  # which is not written
    assert (files / "ref.txt").read_text("utf-8") == before


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--fail-if-worse", "chrf"], 2, "name it with -m"),
        (["--min-drop", "1"], 2, "--min-drop goes with --fail-if-worse"),
        (["--strict"], 2, "none is given; name one, as in --fail-if-worse METRIC"),
        (["--fail-if-worse", "bleu", "--min-drop", "-1"], 2, "0 or more"),
        (["--baseline", "c"], 2, "there are: a, b"),
        (["--by", "domain"], 2, "names no domains"),
        (["--by", "colour"], 2, "length"),
        (["--resamples", "3"], 2, "19 resamples or more"),
        (["--html", "nowhere/page.html"], 1, "nowhere"),
        (["--figure", "figure.jpg"], 2, ".pdf, .svg or .png"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_printed(
    gnomon, files, options, code, said
) -> None:
    answer = gnomon("compare", *_data(files), *options)
    assert answer.code == code
    assert said in answer.err
    assert not answer.out


@pytest.mark.parametrize("form", ["text", "json", "tsv", "markdown", "latex"])
def test_notices_are_given_in_every_format(gnomon, files, form) -> None:
    for name in ("ref", "a", "b"):
        (files / f"{name}.txt").write_bytes(4 * (files / f"{name}.txt").read_bytes())
    (files / "c.txt").write_bytes((files / "a.txt").read_bytes())
    answer = gnomon("compare", *_data(files), files / "c.txt", "-f", form, "-v")
    said = "a and c are the same text"
    assert answer.code == 0
    assert (said in answer.out) == (form in ("text", "json", "markdown"))
    assert (said in answer.err) == (form not in ("text", "json"))


def test_one_system_alone_is_refused(gnomon, files) -> None:
    answer = gnomon("compare", files / "ref.txt", "-i", files / "a.txt")
    assert answer.code == 1
    assert "two systems or more" in answer.err
    assert "'a' alone" in answer.err


def test_the_page_holds_tables_slices_and_both_outputs(gnomon, files) -> None:
    page = files / "page.html"
    answer = gnomon("compare", *_data(files), "--by", "length", "--html", page, "-q")
    assert answer.code == 0
    assert "BLEU of b by slice" in answer.out
    content = page.read_text(encoding="utf-8")
    for said in ("Systems compared with a", "worse than a", "cat sits on mat", "Gains by slice"):
        assert said in content or json.dumps(said)[1:-1] in content


def test_several_systems_are_listed_once_per_metric_and_slices_side_by_side(gnomon, es_en) -> None:
    answer = gnomon("compare", "-t", es_en, "--by", "length", "-q", "--resamples", "100")
    assert answer.code == 0
    assert "BLEU: gain over the baseline by slice" in answer.out
    assert "|slices_bs:" in answer.out  # as many as the slices take
    assert "Phrases that only" not in answer.out


def test_doubts_stand_in_the_answer_and_notes_of_readers_are_asked_for(gnomon, tmp_path) -> None:
    lines = [f"{word} number {i} stands in this line" for i, word in enumerate("abcdefghijkl")]
    shifted = [*lines[1:], *lines[:1]]
    paths = [tmp_path / name for name in ("ref.txt", "a.txt", "b.txt")]
    for path, texts in zip(paths, (lines, lines, shifted), strict=True):
        path.write_text("\n".join(texts), encoding="utf-8")  # without a last line end
    words = ("compare", paths[0], "-i", *paths[1:], "-m", "bleu")
    answer = gnomon(*words)
    assert answer.out.startswith("Caution: ")
    assert answer.err == ""
    assert "the last line has no line end" in gnomon(*words, "-v").err
    written = gnomon(*words, "-o", tmp_path / "table.tsv")
    assert "warning: " in written.err


def test_a_named_guide_or_the_source_aligns_what_does_not_fit(gnomon, tmp_path) -> None:
    own = [f"Line {n} tells of {n * 7} grey cats and their {n % 5} mats." for n in range(30)]
    texts = {"ref": own, "src": own, "sysA": own, "whole": [" ".join(own[:2]), *own[2:]]}
    ref, src, guide, whole = (tmp_path / f"{name}.txt" for name in texts)
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("\n".join([*lines, ""]))
    aligned = tmp_path / "aligned.txt"
    answer = gnomon("align", ref, "-i", whole, "--by", guide, "-o", aligned)
    assert "whole has 29 lines for 30: aligned with sysA (1 merge, " in answer.out
    assert aligned.read_text().split("\n")[:2] == own[:2]
    answer = gnomon("align", "-s", src, "-i", whole)
    assert "aligned with the source (1 merge, " in answer.out
