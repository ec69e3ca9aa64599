"""A small whole example of everything that a command reads, and the command that reads it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import escape

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import parquet
from tests.data.formats.judged_sets import judged_set
from tests.data.formats.score_files import write_score_file
from tests.data.formats.test_human_damaged import WHOLE
from tests.data.formats.test_mqm_set import written as write_mqm_set
from tests.data.formats.test_published_damaged import SETS
from tests.data.formats.wmt_files import sgml_files, small_set, to_xml
from tests.linguistics.test_labels import CONLLU
from tests.robustness.law import ALL, Example

import gnomon as gn
from gnomon import formats, paraphrase, study
from gnomon.agreement import meaning
from gnomon.cli import main
from gnomon.core.human import HumanScores, Ranking
from gnomon.core.options import DrawOptions
from gnomon.core.spans import ErrorSpan
from gnomon.core.testset import SystemInfo
from gnomon.difficulty.frozen import read_grams
from gnomon.human.sheets import key_text, read_answers, read_key
from gnomon.linguistics import Labels
from gnomon.linguistics.scorers.ratings import read_ratings
from gnomon.linguistics.word_lists import Lexicon

TEXTS = (
    "the red cat sat on the mat near a door .",
    "a dog barked at 7 cats .",
    "it rained in 1999 .",
)


def judged() -> gn.TestSet:
    """Two systems, three segments, and judgements of all kinds."""
    values = np.array([[70.0, 40.5, 90.0], [60.0, 55.0, 20.25]])
    people = (
        HumanScores("da", "segment", ("alpha", "beta"), values, rater="ann"),
        HumanScores("da", "segment", ("alpha", "beta"), values + 1, rater="bob"),
        HumanScores("da", "system", ("alpha", "beta"), values.mean(axis=1, keepdims=True)),
        HumanScores("esa", "segment", ("alpha", "beta"), values),
        HumanScores("mqm", "segment", ("alpha", "beta"), np.array([[-1.0, 0, -5], [0, -1, 0]])),
    )
    return judged_set(
        human=people,
        rankings=(Ranking("darr", ((0, "alpha", "beta"), (1, "beta", "alpha"))),),
        errors=(
            ErrorSpan("alpha", 0, "candidate", 4, 7, "style", "minor", kind="mqm"),
            ErrorSpan("alpha", 2, "candidate", 3, 8, "accuracy", "major", kind="mqm"),
            ErrorSpan("beta", 1, "candidate", 0, 3, "style", "minor", kind="mqm"),
        ),
        documents=["d", "e", "e"],
        domains=["news", "news", "talk"],
        labels={"topic": ["pets", "pets", "rain"]},
        info={"alpha": SystemInfo(year=2024), "beta": SystemInfo(architecture="rules")},
    )


def run(*arguments: object) -> None:
    """A command that makes examples."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        code = main([str(argument) for argument in arguments])
    assert code == 0, said.getvalue()


def write(file: Path, lines: Iterable[str]) -> Path:
    """A file of lines, and its folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def examples(base: Path) -> list[Example]:
    """All of them, each in its folder."""
    base.joinpath("whole").mkdir()
    judged().write(base / "whole" / "set")
    found: list[Example] = []
    for make in (_sets, _published, _judgements, _scores, _texts, _annotations, _sheets, _results):
        made = list(make(base, base / "whole" / "set"))
        found += made
    return found


def _sets(base: Path, whole: Path) -> Iterable[Example]:
    formats.write_test_set(judged(), base / "gnomon")
    formats.write_test_set(judged(), base / "packed", compress=True)
    formats.write_test_set(judged(), base / "mme", layout="mt-metrics-eval")
    for name in ("gnomon", "packed"):
        made = _converted(name, ("gnomon",), base / name, base / name)
        yield replace(made, open_ended=("da.", "darr.", "esa.", "mqm.", "systems.tsv"))
    made = _converted("mme", ("mt-metrics-eval",), base / "mme", base / "mme")
    yield replace(made, open_ended=("de-en.da.", "de-en.esa.", "de-en.mqm."))


def _converted(name: str, covers: tuple[str, ...], folder: Path, *paths: Path) -> Example:
    command = ("data", "convert", *map(str, paths), "-o", "OUT", "-f", "json")
    return Example(name, covers, folder, command, gn.TestSet.read)


_PUBLISHED = {
    "mlqe table": "mlqe-pe", "mlqe files": "mlqe-pe", "mlqe shared": "mlqe-pe",
    "eval4nlp": "eval4nlp21", "rated rows": "wmt22-qe", "package": "wmt-package",
    "sample": "wmt-daseg", "summeval": "summeval", "realsumm": "realsumm",
}  # fmt: skip

# files that alone say how many segments or judgements there are
_ALONE = {
    "mlqe table": ALL,
    "mlqe shared": ("et-en.dev.tsv",),
    "rated rows": ALL,
    "summeval": ALL,
    "realsumm": ALL,
    "package": ("DA-",),
}


def _published(base: Path, _: Path) -> Iterable[Example]:
    for name, files in SETS.items():
        for file, lines in files.items():
            write(base / name / file, lines)
        made = _converted(name, (_PUBLISHED[name],), base / name, base / name)
        yield replace(made, open_ended=_ALONE.get(name, ()), leave=("errors",))
    write(base / "xml" / "mini.de-en.all.xml", to_xml(small_set()).split("\n")[:-1])
    yield _converted("xml", ("wmt-xml",), base / "xml", base / "xml" / "mini.de-en.all.xml")
    (base / "sgml").mkdir()
    files = sgml_files(small_set(), base / "sgml")
    yield _converted("sgml", ("wmt-sgml",), base / "sgml", *files)
    (base / "mqm-set").mkdir()
    file = write_mqm_set(base / "mqm-set")
    made = _converted("mqm-set", ("wmt-mqm",), base / "mqm-set", file)
    yield replace(made, open_ended=ALL)


def _judgements(base: Path, whole: Path) -> Iterable[Example]:
    bare = judged_set(documents=["d", "e", "e"])
    bare.write(base / "whole" / "bare")
    for form in WHOLE:
        name, text = WHOLE[form]
        file = write(base / f"human {form}" / name, text.split("\n")[:-1])
        yield _human(form, file, base / "whole" / "bare")
    written = {
        "table": ("t.tsv", "da"), "spans": ("s.jsonl", "mqm"),
        "mt-metrics-eval": ("de-en.k.seg.score", "esa"),
    }  # fmt: skip
    for form, (name, kind) in written.items():
        file = base / f"written {form}" / name
        file.parent.mkdir()
        formats.write_human(file, judged(), kind, format=form)
        yield _human(form, file, base / "whole" / "bare")


def _human(form: str, file: Path, whole: Path) -> Example:
    command = ("data", "convert", str(whole), "--human", str(file), "-o", "OUT", "-f", "json")
    name = file.parent.name
    covers = (f"human:{form}", "--human")
    return Example(name, covers, file.parent, command, gn.TestSet.read, open_ended=ALL)


def _scores(base: Path, whole: Path) -> Iterable[Example]:
    testset = gn.TestSet.read(whole)
    scores = gn.score(testset, "chrf")
    for form, name in (("tsv", "s.tsv"), ("csv", "s.csv"), ("jsonl", "s.jsonl"), ("wmt", "s.wmt"),
                       ("mt-metrics-eval", "chrf-A.seg.score")):  # fmt: skip
        file = base / f"scores {form}" / name
        file.parent.mkdir()
        write_score_file(file, scores, testset)
        yield _scored(form, file, whole)
    rows = scores.segment_rows()
    array = write(base / "scores json" / "s.json", [json.dumps(rows, indent=1)])
    by_file = {
        f"{system}.txt": [
            {"mt": text, "ref": "r", "chrf": row["score"]}
            for text, row in zip(texts, (r for r in rows if r["system"] == system), strict=True)
        ]
        for system, texts in testset.systems.items()
    }
    comet = write(base / "scores comet" / "s.json", [json.dumps(by_file, indent=4)])
    yield _scored("comet", comet, whole)
    stored = base / "scores parquet" / "s.parquet"
    stored.parent.mkdir()
    parquet.write_table(pa.Table.from_pylist(rows), stored, write_page_checksum=True)
    yield _scored("json", array, whole)
    yield _scored("parquet", stored, whole)
    for form, name in (("tsv", "t.tsv"), ("wmt", "t.wmt"), ("mt-metrics-eval", "M-A.sys.score")):
        file = base / f"system scores {form}" / name
        file.parent.mkdir()
        write_score_file(file, scores, testset)
        yield _scored(form, file, whole)


def _scored(form: str, file: Path, whole: Path) -> Example:
    command = (
        "metaeval", "-t", str(whole), "--scores", str(file), "--human", "da", "--resamples", "0",
        "-o", "OUT", "-f", "json",
    )  # fmt: skip
    name = file.parent.name
    covers = (f"scores:{form}", "--scores")
    return Example(
        name,
        covers,
        file.parent,
        command,
        lambda _: formats.find_scores(file, language_pair="de-en", test_set="small"),
    )


def _units(base: Path, options: tuple[str, ...]) -> Iterable[Example]:
    texts = [escape(text) for text in TEXTS]
    unit = '<trans-unit id="{0}"><source>{1}</source><target>{1}</target></trans-unit>'
    memory = "<tu><tuv lang='de'><seg>{1}</seg></tuv><tuv lang='en'><seg>{1}</seg></tuv></tu>"
    cue = "{0}\n00:00:0{0},000 --> 00:00:0{0},900\n{1}\n"
    for name, suffix, before, one, after in (
        ("xliff", "xlf", "<xliff version='1.2'><file><body>", unit, "</body></file></xliff>"),
        ("tmx", "tmx", "<tmx><header srclang='de'/><body>", memory, "</body></tmx>"),
        ("po", "po", "", 'msgid "{1}"\nmsgstr "{1}"\n', ""),
        ("subtitles", "srt", "", cue, ""),
    ):
        units = [one.format(n, text) for n, text in enumerate(texts, start=1)]
        file = write(base / name / f"t.{suffix}", [before, *units, after])
        yield Example(
            name, (name,), file.parent, ("score", str(file), "-i", str(file), *options),
            lambda _, file=file: gn.TestSet.from_files(references=[file], systems=[file]), ALL,
        )  # fmt: skip


def _texts(base: Path, whole: Path) -> Iterable[Example]:
    plain = base / "plain"
    names = ("ref.txt", "src.txt", "a.txt", "b.txt")
    files = [write(plain / name, [f"{n} {text}" for text in TEXTS]) for n, name in enumerate(names)]
    ref, src, a, b = map(str, files)
    options = ("-m", "chrf", "-f", "json", "-o", "OUT")
    yield Example(
        "plain", ("plain text", "refs", "--input", "--source"), plain,
        ("score", ref, "-s", src, "-i", a, b, *options),
        lambda _: [formats.read_lines(file) for file in files],
    )  # fmt: skip
    yield from _units(base, options)
    answers = [
        {"doc_id": n, "target": text, "resps": [[text]], "filtered_resps": [text]}
        for n, text in enumerate(TEXTS)
    ]
    log = write(base / "log" / "samples.jsonl", map(json.dumps, answers))
    yield Example(
        "log", ("log",), log.parent, ("score", str(log), "-i", str(log), *options),
        lambda _: gn.TestSet.from_files(references=[log], systems=[log]), ALL,
    )  # fmt: skip
    folder = base / "log folder"
    write(folder / "samples_t_2026-01-02T03-04-05.000001.jsonl", map(json.dumps, answers))
    yield replace(_converted(folder.name, ("log",), folder, folder), open_ended=ALL)
    rows = [{"ref": text, "one": text, "doc": "d"} for text in TEXTS]
    table = write(
        base / "table" / "t.tsv", ["ref\tone\tdoc", *("\t".join(r.values()) for r in rows)]
    )
    objects = write(base / "objects" / "t.jsonl", map(json.dumps, rows))
    quoted = ["ref;one;doc", *(";".join(f'"{cell}"' for cell in r.values()) for r in rows)]
    separated = write(base / "separated" / "t.csv", quoted)
    array = write(base / "array" / "t.json", [json.dumps(rows, indent=1)])
    stored = base / "stored" / "t.parquet"
    stored.parent.mkdir()
    parquet.write_table(pa.Table.from_pylist(rows), stored, write_page_checksum=True)
    workbook = base / "excel table" / "t.xlsx"
    workbook.parent.mkdir()
    workbook.write_bytes(
        formats.build_workbook(
            [formats.Worksheet("t", list(rows[0]), [[*r.values()] for r in rows])]
        )
    )
    for name, file in (("tsv", table), ("csv", separated), ("jsonl", objects), ("json", array),
                       ("parquet", stored), ("xlsx", workbook)):  # fmt: skip
        columns = {"references": ["ref"], "systems": ["one"]}
        given = ("--reference-columns", "ref", "--system-columns", "one")
        yield Example(
            file.parent.name, (name, "--table"), file.parent,
            ("score", "--table", str(file), *given, *options),
            lambda _, file=file, columns=columns: formats.read_table(file, **columns), ALL,
        )  # fmt: skip
    fed = [{"src": text, "mt": text, "ref": text} for text in TEXTS]
    comet = write(base / "comet" / "c.json", [json.dumps(fed, indent=1)])
    yield replace(_converted("comet", ("comet",), comet.parent, comet), open_ended=ALL)
    made = [
        formats.Paraphrase(n + 1, f"{text} {k}", f"m{k}")
        for n, text in enumerate(TEXTS)
        for k in (1, 2)
    ]
    lines = base / "paraphrases" / "p.jsonl"
    lines.parent.mkdir()
    formats.write_paraphrases(lines, made)
    parallel = [
        write(base / "parallel" / f"ref.m.{k}.txt", [f"{t} {k}" for t in TEXTS]) for k in (1, 2)
    ]
    kept = write(base / "whole" / "ref.txt", TEXTS)
    for files in ([lines], parallel):
        yield Example(
            files[0].parent.name, ("paraphrases", "--paraphrases"), files[0].parent,
            ("paraphrase", "coverage", str(kept), "-i", str(kept), "--paraphrases",
             *map(str, files), "-f", "json", "-o", "OUT"),
            lambda _, files=files: formats.read_paraphrases(files), ALL,
        )  # fmt: skip
    trees = [
        write(
            base / "trees" / f"ref.m{k}.ptb",
            [f"(S (NP (DT the) (N cat{k})) (VP (V sat)))", "(())", "(S (V run))"],
        )
        for k in (1, 2)
    ]
    yield Example(
        "trees", ("ptb", "--trees"), base / "trees",
        ("paraphrase", "diversity", "--trees", *map(str, trees), "-f", "json", "-o", "OUT"),
        lambda _: [formats.read_trees(file) for file in trees],
    )  # fmt: skip
    columns = "good-translation\tincorrect-translation\treference\tphenomena\tseverity"
    minimal = write(
        base / "aces" / "pairs.tsv", [columns, "a cat sat\ta dog sat\ta cat sat\tnoun\tmajor"]
    )
    yield Example(
        "aces", ("aces", "--pairs"), minimal.parent,
        ("stress", "--pairs", str(minimal), "-f", "json", "-o", "OUT"),
        lambda _: formats.read_pairs(minimal), open_ended=ALL,
    )  # fmt: skip
    perturbed = {
        "mt_sent": "a cat sat", "pert_sent": "a dog sat", "eng_sent": "a cat sat",
        "pert_name": "noun", "pert_check": True, "severity": "major", "src_sent": "s",
    }  # fmt: skip
    demetr = write(base / "demetr" / "noun.json", [json.dumps([perturbed])])
    yield Example(
        "demetr", ("demetr",), demetr.parent,
        ("stress", "--pairs", str(demetr), "-f", "json", "-o", "OUT"),
        lambda _: formats.read_pairs(demetr), open_ended=ALL,
    )  # fmt: skip
    drawn = write(
        base / "sample" / "sample.tsv",
        [
            "segment\tdocument\tinclusion\tanalysis",
            "1\td\t0.5\t2",
            "2\te\t0.25\t1",
            "3\te\t0.25\t1",
        ],
    )
    yield Example(
        "sample", ("sample",), drawn.parent, ("python",),
        lambda _: formats.read_sample(drawn), ALL,
    )  # fmt: skip
    variants = write(base / "variants" / "v.txt", ["# a list", "cat / tomcat", "mat\trug\tcarpet"])
    yield Example(
        "variants", ("variants",), variants.parent, ("python",),
        lambda _: paraphrase.read_variants(variants), ALL,
    )  # fmt: skip
    constraints = base / "constraints" / "c.jsonl"
    constraints.parent.mkdir()
    testset = gn.TestSet.from_files(references=[kept], systems=[])
    wanted = paraphrase.variant_constraints(testset, paraphrase.read_variants(variants))
    paraphrase.write_constraints(constraints, wanted)
    # the command that takes them needs a model
    yield Example(
        "constraints", ("--constraints",), constraints.parent, ("python",),
        lambda _: paraphrase.read_constraints(constraints), open_ended=ALL,
    )  # fmt: skip


def _annotations(base: Path, _: Path) -> Iterable[Example]:
    text = write(base / "whole" / "ana.txt", ["Voy al mar, Ana."])
    data = (str(text), "-i", str(text), "-m", "chrf", "--resamples", "0", "--examples", "0")
    options = ("--no-cache", "-f", "json", "-o", "OUT")
    conllu = write(base / "conllu" / "a.conllu", CONLLU.split("\n")[:-1])
    spans = [{"start": 7, "end": 10, "label": "pos:NOUN"}, {"start": 12, "end": 15, "label": "x"}]
    record = {"text": "Voy al mar, Ana.", "spans": spans}
    jsonl = write(base / "labels" / "a.jsonl", [json.dumps(record)])
    for file in (conllu, jsonl):
        command = (
            "muler",
            *data,
            "--labels",
            str(file),
            "--features",
            "pos:NOUN",
            *options,
        )
        name = f"labels:{file.suffix}"
        yield Example(
            name.replace(":", " "), (name, "--labels"), file.parent, command,
            lambda _, file=file: Labels.read([file]).texts,
            open_ended=("a.conllu",),
        )  # fmt: skip
    words = write(base / "lexicon" / "w.txt", ["# words", "mar", "Ana", "voy al"])
    command = ("muler", *data, "--lexicon", f"w={words}", "--features", "lex:w", *options)
    yield Example(
        "lexicon", ("--lexicon",), words.parent, command,
        lambda _: [" ".join(e) for some in Lexicon.read("w", words).entries.values() for e in some],
        open_ended=ALL,
    )  # fmt: skip
    ratings = {
        "sentiment": ["term,POS,sentiment", "mar,noun,2", "ana,noun,-1"],
        "concreteness": ["Word\tBigram\tConc.M\tConc.SD", "mar\t0\t4.5\t.1", "ana\t0\t3.25\t.2"],
        "valence": ["Word\tValence\tArousal\tDominance", "mar\t.9\t.5\t.2", "ana\t.25\t.5\t.1"],
        "NAME": ["mar\t1", "ana\t-0.5"],
    }
    ratings |= dict.fromkeys(("arousal", "dominance"), ratings["valence"])
    for name, lines in ratings.items():
        file = write(base / f"scorer {name}" / "w.tsv", lines)
        yield Example(
            f"scorer {name}", (f"scorer:{name}", "--scorers"), file.parent,
            ("muler", *data[:3], "-m", "none", "--scorers", f"{name}={file}",
             "--resamples", "0", "-l", "es", "-f", "json", "-o", "OUT"),
            lambda _, file=file, name=name: [
                one[""] for one in read_ratings(file, name).values.values()
            ],
            open_ended=ALL,
        )  # fmt: skip


def _sheets(base: Path, whole: Path) -> Iterable[Example]:
    from tests.methods.human.test_sheets import KEY

    pairs = base / "pairs"
    pairs.mkdir()
    (pairs / "key.tsv").write_text(key_text(KEY), encoding="utf-8")
    items = list(KEY.rows)
    anna = write(pairs / "anna.tsv", ["item\tanswer\tcomment", *(f"{i}\tA\tx" for i in items)])
    ben = write(pairs / "ben.tsv", ["item\tanswer\tannotator", *(f"{i}\tB\tBen" for i in items)])
    yield Example(
        "pairs", ("--read", "--key"), pairs,
        ("human", "sheet", "--read", str(anna), str(ben), "--key", str(pairs / "key.tsv"),
         "-f", "json", "-o", "OUT"),
        lambda _: read_answers([anna, ben], read_key(pairs / "key.tsv")),
        open_ended=("anna", "ben"),
    )  # fmt: skip


def _meaning(base: Path, whole: Path) -> Example:
    """What differences of BLEU meant in three sets, beside a comparison."""
    draw = np.random.default_rng(1)
    pairs = [
        meaning.SetPairs(f"wmt19 {k}", "de-en", 2019, "da", 9, draw.uniform(0, 90, 40), agree)
        for k, agree in enumerate(draw.random((3, 40)) < 0.8)
    ]
    drawing = DrawOptions(50, 0.95, 1)
    testset = gn.TestSet.read(whole)
    signature = str(gn.score(testset, ["bleu"])[0].signature)
    file = base / "meaning" / "bleu.json"
    file.parent.mkdir()
    made = meaning.make_meaning("bleu", signature, pairs, drawing)
    meaning.write_meanings(file, [made], drawing)
    command = ("compare", "-t", str(whole), "-m", "bleu", "--delta-accuracy", str(file),
               "--resamples", "20", "-f", "json", "-o", "OUT")  # fmt: skip
    return Example(
        "meaning",
        ("--delta-accuracy",),
        file.parent,
        command,
        lambda _: msgspec.to_builtins(meaning.read_meanings(file)),
    )


def _results(base: Path, whole: Path) -> Iterable[Example]:
    yield _meaning(base, whole)
    explained = base / "explanations" / "e.jsonl"
    explained.parent.mkdir()
    run(
        "bmx",
        "explain",
        "-t",
        whole,
        "-m",
        "chrf",
        "--save-explanations",
        explained,
        "--no-cache",
    )
    spec = f"file({str(explained)!r})"
    yield Example(
        "explanations", (), explained.parent,
        ("bmx", "explain", "-t", str(whole), "-m", "chrf", "--explainers", spec, "-f", "json",
         "-o", "OUT"),
        lambda out: json.loads(out.read_bytes())["rows"],
    )  # fmt: skip
    hard = base / "frozen" / "hard.npz"
    hard.parent.mkdir()
    word = ("difficulty", "score", "-t", str(whole), "-m", "rouge1")
    run(*word, "--save", hard)
    yield Example(
        "frozen", ("frozen=",), hard.parent,
        (*word[:-1], f"difficulty(rouge1, frozen='{hard}')", "-f", "json", "-o", "OUT"),
        lambda _: vars(read_grams(hard)),
    )  # fmt: skip
    lines = [
        'name = "small"', 'metrics = ["chrf"]', "[[testsets]]", f'path = "{whole}"', "first = 2",
        "[methods.score]", "[methods.compare]", "resamples = 20",
    ]  # fmt: skip
    plan = write(base / "study" / "study.toml", lines)
    yield Example(
        "study", ("STUDY.toml",), plan.parent,
        ("run", str(plan), "--dry-run", "-f", "json", "-o", "OUT"),
        lambda _: study.read_study(plan), open_ended=ALL,
    )  # fmt: skip
