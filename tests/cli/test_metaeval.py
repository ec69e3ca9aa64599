"""``gnomon metaeval`` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

import gnomon as gn
from gnomon import TestSet
from gnomon.core.errors import UsageError

NAMES = ("a", "b", "c", "d", "e")
WORDS = [
    "the",
    "red",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "near",
    "the",
    "door",
    "of",
    "my",
    "house",
    "today",
]


def texts(wrong: int) -> list[str]:
    """Twelve segments; the larger ``wrong``, the more words are not the reference's."""
    return [
        " ".join("x" if (i + k) % 6 < wrong else w for k, w in enumerate(WORDS[: 6 + i % 7]))
        for i in range(12)
    ]


@pytest.fixture
def sets(tmp_path: Path) -> list[Path]:
    """Two test sets with human scores of systems and of segments."""
    paths = []
    for pair in ("de-en", "fi-en"):
        path = tmp_path / "wmt30" / pair
        path.parent.mkdir(exist_ok=True)
        systems = {name: texts(k) for k, name in enumerate(NAMES)}
        TestSet.from_lists(systems, texts(0), language_pair=pair, name="wmt30").write(path)
        rows = [
            f"{name}\t{i + 1}\t{9 - k - (i * k) % 3}"
            for k, name in enumerate(NAMES)
            for i in range(12)
        ]
        (path / "human").mkdir()
        (path / "human" / "esa.seg.tsv").write_text(
            "\n".join(["system\tseg\tesa", *rows, ""]), encoding="utf-8"
        )
        paths.append(path)
    return paths


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """System scores of a metric, as lines of WMT."""
    lines = [
        f"M\t{pair}\twmt30\t{name}\t{10 - (k * k) % 7}"
        for pair in ("de-en", "fi-en")
        for k, name in enumerate(NAMES)
    ]
    path = tmp_path / "m.tsv"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def test_json_holds_the_fields_of_the_contract(gnomon, sets) -> None:
    answer = gnomon("metaeval", "-t", sets[0], "-m", "bleu", "chrf", "-f", "json", "--resamples", 0)
    found = answer.json()
    assert (answer.code, found["command"]) == (0, "metaeval")
    fields = ["language_pair", "level", "statistic", "grouping", "metric", "value", "n", "p"]
    assert list(found["rows"][0])[:8] == fields
    assert {row["metric"] for row in found["rows"] if not row["control"]} == {"bleu", "chrf"}
    assert {row["level"] for row in found["rows"]} == {"system", "segment"}
    assert found["signatures"]["metaeval"].startswith("metaeval|test:auto|draws:")


@pytest.mark.parametrize("form", ["text", "json", "tsv", "latex", "markdown"])
def test_notices_are_given_in_every_format(gnomon, sets, form) -> None:
    answer = gnomon(
        "metaeval", "-t", sets[0], "-m", "bleu", "--levels", "system", "--preset", "outliers",
        "--statistics", "pearson", "--resamples", 0, "-f", form, "-v",
    )  # fmt: skip
    said = "no draws: no intervals"
    if form == "json":
        assert any(said in one["text"] for one in answer.json()["messages"])
    else:
        assert said in (answer.out if form == "text" else answer.err)


def test_text_lists_each_statistic_with_intervals_ranks_and_p(gnomon, sets) -> None:
    answer = gnomon(
        "metaeval",
        "-t",
        sets[0],
        "-m",
        "bleu",
        "chrf",
        "--baseline",
        "bleu",
        "-v",
        "--resamples",
        60,
    )
    assert answer.code == 0
    for heading in ("Pearson, system level", "Accuracy with tie calibration", "Tie threshold"):
        assert heading in answer.out
    header = next(line for line in answer.out.split("\n") if line.startswith("Metric"))
    assert header.split() == ["Metric", "Agreement", "low", "high", "n", "Rank", "Cluster", "p"]
    assert "control: candidate length" in answer.out
    assert "p: the metric agrees better than bleu with people" in answer.out
    assert answer.out.count("\nbleu: bleu|refs:1") == 1


def test_several_test_sets_are_judged_at_once_with_gains(gnomon, sets, scored) -> None:
    answer = gnomon(
        "metaeval", "-t", *sets, "-m", "bleu", "--scores", scored, "--baseline", "bleu",
        "--levels", "system", "--statistics", "pearson", "pairwise_accuracy", "--resamples", 0,
    )  # fmt: skip
    assert answer.code == 0
    assert "Gains over the test sets: Pearson, system level" in answer.out
    lines = [line.split() for line in answer.out.split("\n") if line.strip()]
    assert {line[0] for line in lines} >= {"de-en", "fi-en", "average", "all"}


def test_many_rows_are_shown_as_a_map_over_test_sets(gnomon, sets, scored) -> None:
    files = [f"m{k}={scored}" for k in range(16)]
    answer = gnomon(
        "metaeval", "-t", *sets, "--scores", *files, "--levels", "system",
        "--statistics", "pearson", "--resamples", 0,
    )  # fmt: skip
    (header,) = [line for line in answer.out.split("\n") if line.startswith("Metric")]
    assert header.split() == ["Metric", "de-en", "fi-en", "average"]


def test_files_of_scores_need_neither_test_set_nor_metrics(gnomon, tmp_path, scored) -> None:
    human = tmp_path / "de-en.da.sys.tsv"
    human.write_text("system\tz\na\t5\nb\t4\nc\t3\nd\t2\ne\t1\n", encoding="utf-8")
    answer = gnomon("metaeval", "--human", human, "--scores", scored, "-f", "json", "-q")
    rows = answer.json()["rows"]
    assert answer.code == 0
    assert {row["metric"] for row in rows if not row["control"]} == {"M"}
    assert {row["human"] for row in rows} == {"da-z"}
    assert {row["level"] for row in rows} == {"system"}


def test_human_scores_come_from_a_file_too(gnomon, files, tmp_path) -> None:
    human = tmp_path / "h.sys.tsv"
    human.write_text("system\tz\na\t1\nb\t0\n", encoding="utf-8")
    answer = gnomon(
        "metaeval", files / "ref.txt", "-i", files / "a.txt", files / "b.txt",
        "--human", f"mine={human}", "-f", "json", "--resamples", 0,
    )  # fmt: skip
    rows = answer.json()["rows"]
    assert answer.code == 0
    assert {row["human"] for row in rows} == {"mine-z"}
    (pearson,) = [row for row in rows if row["statistic"] == "pearson"]
    assert (pearson["value"], pearson["n"], pearson["metric"]) == (pytest.approx(1), 2, "bleu")


def test_a_preset_says_whose_formulas_it_takes(gnomon, sets) -> None:
    answer = gnomon("metaeval", "-t", *sets, "--preset", "wmt24", "--resamples", 50, "-v")
    assert answer.code == 0
    assert "preset wmt24: soft pairwise accuracy (1000 sign flips, seed 4" in answer.out


def test_the_page_has_plots_maps_and_every_table(gnomon, sets, tmp_path) -> None:
    page = tmp_path / "page.html"
    answer = gnomon(
        "metaeval", "-t", *sets, "-m", "bleu", "chrf", "--baseline", "bleu", "--html", page,
        "--levels", "system", "--resamples", 20, "-q",
    )  # fmt: skip
    assert answer.code == 0
    text = page.read_text(encoding="utf-8")
    for part in (
        "Systems by metric and by people, de-en",
        "Agreement over the K best systems alone: pearson",
        "decisions repaired and broken",
        "p of row better than column",
        "Gains in agreement",
    ):
        assert part in text


@pytest.mark.parametrize("form", ["tsv", "latex", "markdown"])
def test_every_format_is_written(gnomon, sets, form: str) -> None:
    answer = gnomon("metaeval", "-t", sets[0], "-f", form, "--resamples", 0, "-q")
    assert answer.code == 0
    assert "bleu" in answer.out


def test_the_table_that_is_asked_for_where_nobody_judged_is_one_that_is_read(
    gnomon, files, tmp_path
) -> None:
    texts = ("metaeval", files / "ref.txt", "-i", files / "a.txt", files / "b.txt")
    refused = gnomon(*texts)
    assert "with the columns system, seg and score" in refused.err
    assert "add it (--human scores.tsv)" in refused.err
    people = tmp_path / "scores.tsv"
    rows = [f"{system}\t{seg}\t{seg % 3}" for system in "ab" for seg in (1, 2, 3)]
    people.write_text("\n".join(["system\tseg\tscore", *rows]) + "\n", encoding="utf-8")
    answer = gnomon(*texts, "--human", people, "--resamples", 0)
    assert answer.code == 0
    assert "scores (segment)" in answer.out


def test_what_is_missing_is_answered_with_what_to_do(gnomon, files, sets, scored) -> None:
    answer = gnomon("metaeval")
    assert answer.code == 2
    assert "name a test set with human scores (-t DIR), or files" in answer.err
    answer = gnomon("metaeval", files / "ref.txt", "-i", files / "a.txt")
    assert answer.code == 1
    assert "there are no human scores to hold metrics against; give a table" in answer.err
    answer = gnomon("metaeval", "-t", sets[0], "--human", "mqm")
    assert answer.code == 2
    assert "unknown kind of human scores 'mqm'; there are: esa" in answer.err
    answer = gnomon("metaeval", "-t", sets[0], "--baseline", "chrf")
    assert "unknown metric (as baseline) 'chrf'" in answer.err
    answer = gnomon("metaeval", "-t", sets[0], "--human", "missing.tsv")
    assert answer.code == 1
    assert "there is no file missing.tsv" in answer.err
    answer = gnomon("metaeval", "-t", sets[0], "--scores", scored, "--statistics", "person")
    assert answer.code == 2


def test_paraphrases_stand_beside_the_originals_as_in_python(gnomon, sets, tmp_path) -> None:
    more = tmp_path / "ref.human.txt"
    more.write_text("".join(line + "\n" for line in texts(1)), encoding="utf-8")
    page = tmp_path / "page.html"
    answer = gnomon(
        "metaeval", "-t", sets[0], "-m", "bleu", "chrf", "--paraphrases", more,
        "--baseline", "bleu", "--resamples", 30, "-f", "json", "--html", page, "-q",
    )  # fmt: skip
    found = answer.json()
    assert (answer.code, answer.err) == (0, "")
    names = {row["metric"] for row in found["rows"] if not row["control"]}
    assert names == {"bleu", "chrf", "bleu+human 1", "chrf+human 1"}
    compared = {(row["metric"], row["against"]) for row in found["tables"]["gains"]}
    assert compared == {("bleu+human 1", "bleu"), ("chrf+human 1", "chrf"), ("chrf", "bleu")}
    assert "Paraphrases" in page.read_text(encoding="utf-8")
    ts = TestSet.read(sets[0])
    direct = gn.metaeval(ts, ["bleu", "chrf"], [more], baseline="bleu", resamples=30)
    assert [dict(row) for row in direct.rows] == found["rows"]
    with pytest.raises(UsageError, match="1 test sets and paraphrases of 2"):
        gn.metaeval(ts, "bleu", [[more], [more]])
    answer = gnomon("metaeval", "-t", *sets, "--paraphrases", more)
    assert answer.code == 2
    assert "write {pair} where file names differ" in answer.err


def test_tables_are_written_by_name(gnomon, sets, tmp_path) -> None:
    answer = gnomon(
        "metaeval", "-t", sets[0], "--resamples", 0, "--tables",
        f"wins={tmp_path / 'w.tsv'}", f"systems={tmp_path / 's.json'}", "-q",
    )  # fmt: skip
    assert answer.code == 0
    assert (tmp_path / "w.tsv").read_text(encoding="utf-8").startswith("test_set\tlevel")
    assert '"outlier": false' in (tmp_path / "s.json").read_text(encoding="utf-8")


def test_the_first_segments_are_judged_by_files_of_all_of_them(gnomon, tmp_path) -> None:
    from gnomon import example

    rows = [
        f"{system}\t{number}\t{(number * (7 + len(system))) % 11}"
        for system in ("apertium-direct", "apertium-french", "apertium-catalan")
        for number in range(209)
    ]
    human = tmp_path / "da.tsv"
    human.write_text("\n".join(["system\tseg\tscore", *rows]) + "\n", "utf-8")
    common = ("metaeval", "-t", example.path(), "-m", "chrf", "--human", human, "--resamples", "0")
    few = gnomon(*common, "--first", "30", "--first-segment", "0", "-f", "json")
    assert few.code == 0, few.err
    (row,) = [
        row
        for row in few.json()["rows"]
        if (row["level"], row["statistic"], row["grouping"]) == ("segment", "pearson", "none")
        and row["metric"] == "chrf"
    ]
    assert row["n"] == 3 * 30
    assert "segment is '0'" in gnomon(*common).err
    unread = gnomon("metaeval", "-t", example.path(), "-m", "chrf", "--first-segment", "0")
    assert "--first-segment is of files of human scores" in unread.err
