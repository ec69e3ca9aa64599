"""Every line of docs/compare/files.md ("My files are ...") runs, on files of that kind."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import zipfile
from pathlib import Path

import pytest

from gnomon.cli import main

_PAGE = Path(__file__).resolve().parents[1] / "docs" / "compare" / "files.md"
_LINES = re.findall(r"^\| .*\| `((?:cat|gnomon) .*)` \|$", _PAGE.read_text("utf-8"), re.MULTILINE)

SOURCES = [
    "The dog barks.",
    "A cat sleeps here.",
    "Nobody knows why.",
    "It rains in May.",
    "The train leaves at noon.",
    "Our neighbours sell honey.",
    "She wrote three letters.",
    "Bread is expensive now.",
]
REFERENCE = [
    "Der Hund bellt.",
    "Hier schläft eine Katze.",
    "Niemand weiß, warum.",
    "Im Mai regnet es.",
    "Der Zug fährt mittags ab.",
    "Unsere Nachbarn verkaufen Honig.",
    "Sie schrieb drei Briefe.",
    "Brot ist jetzt teuer.",
]
TEXTS = {
    "ref": REFERENCE,
    "ref2": ["Ein Hund bellt.", *REFERENCE[1:]],
    "a": [
        "Der Hund bellt.",
        "Eine Katze schläft hier.",
        "Niemand weiss warum.",
        "Es regnet im Mai.",
        "Der Zug fährt am Mittag ab.",
        "Unsere Nachbarn verkaufen Honig.",
        "Sie schrieb drei Briefe.",
        "Brot ist nun teuer.",
    ],
    "b": [
        "Hund bellen.",
        "Katze ist da.",
        "Keiner weiß, warum.",
        "Es regnet im Mai.",
        "Zug fährt mittags ab.",
        "Nachbarn verkaufen Honig.",
        "Sie schrieb Briefe.",
        "Jetzt ist Brot teuer.",
    ],
}
PAIRS = list(zip(TEXTS["a"], TEXTS["b"], strict=True))


def lines(texts):
    return "".join(f"{text}\n" for text in texts)


def rows(made):
    return lines(json.dumps(row) for row in made)


def xliff(texts):
    units = zip(SOURCES, texts, strict=True)
    inside = "".join(
        f'<trans-unit id="{n}"><source>{s}</source><target>{t}</target></trans-unit>'
        for n, (s, t) in enumerate(units)
    )
    head = '<file original="x" datatype="x" source-language="en" target-language="de"><body>'
    return f'<xliff version="1.2">{head}{inside}</body></file></xliff>'


def tmx(texts):
    units = zip(SOURCES, texts, strict=True)
    inside = "".join(
        f'<tu><tuv xml:lang="en"><seg>{s}</seg></tuv><tuv xml:lang="de"><seg>{t}</seg></tuv></tu>'
        for s, t in units
    )
    return f'<tmx version="1.4"><header srclang="en"/><body>{inside}</body></tmx>'


def po(texts):
    pairs = zip(SOURCES, texts, strict=True)
    return "\n".join(f"msgid {json.dumps(s)}\nmsgstr {json.dumps(t)}\n" for s, t in pairs)


def srt(texts):
    times = [f"00:00:0{n},000 --> 00:00:0{n + 1},000" for n in range(len(texts))]
    numbered = enumerate(zip(times, texts, strict=True), start=1)
    return "\n".join(f"{n}\n{time}\n{text}\n" for n, (time, text) in numbered)


def harness(texts):
    whole = enumerate(zip(SOURCES, REFERENCE, texts, strict=True))
    return rows(
        {"doc_id": n, "doc": {"source": s}, "target": r, "resps": [[t]], "filtered_resps": [t]}
        for n, (s, r, t) in whole
    )


def inspect(texts):
    samples = {
        f"samples/{n}_epoch_1.json": json.dumps(
            {"id": n, "target": r, "output": {"choices": [{"message": {"content": t}}]}}
        )
        for n, (r, t) in enumerate(zip(REFERENCE, texts, strict=True))
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, text in samples.items():
            packed.writestr(name, text)
    return file.getvalue()


def lens(texts):
    results = {"sources,none": SOURCES, "targets,none": REFERENCE, "translations,none": texts}
    return json.dumps({"results": {"flores": results}, "versions": {}})


def batch(texts):
    return rows(
        {
            "custom_id": str(n),
            "response": {"body": {"choices": [{"message": {"content": text}}]}},
        }
        for n, text in enumerate(texts)
    )


def best(texts):
    return lines(f"{n} ||| {text} ||| {k}" for n, text in enumerate(texts) for k in range(2))


def lighteval(texts):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    made = [
        {
            "doc": {"id": str(n), "query": s, "choices": [r], "gold_index": [0]},
            "model_response": {"text": [t]},
            "metric": {"f1": 0.5},
        }
        for n, (s, r, t) in enumerate(zip(SOURCES, REFERENCE, texts, strict=True))
    ]
    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(made), file)
    return file.getvalue()


def workbook():
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [("reference", "a", "b"), *zip(REFERENCE, *zip(*PAIRS, strict=True), strict=True)]:
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def odd():
    return lines(
        ["gold;v1;v2", *(f"{r};{a};{b}" for r, (a, b) in zip(REFERENCE, PAIRS, strict=True))]
    )


def comet():
    def system(texts):
        whole = zip(SOURCES, texts, REFERENCE, strict=True)
        return [{"src": s, "mt": t, "ref": r, "COMET": len(t) / 50} for s, t, r in whole]

    return json.dumps({f"{name}.txt": system(TEXTS[name]) for name in "ab"})


def scores():
    named = ((name, n) for name in "ab" for n in range(1, 9))
    said = (f"{name}\t{n}\tmine\t{n / 8 + (name == 'b') / 9}" for name, n in named)
    return lines(["system\tsegment\tmetric\tscore", *said])


def newstest():
    def side(tag, texts):
        inside = "".join(f'<p><seg id="{n}">{t}</seg></p>' for n, t in enumerate(texts, start=1))
        return f"<{tag}>{inside}</{tag.split()[0]}>"

    sides = [('src lang="en"', SOURCES), ('ref lang="de" translator="A"', REFERENCE)]
    sides += [(f'hyp system="{name}" lang="de"', TEXTS[name]) for name in "ab"]
    inside = "".join(side(tag, texts) for tag, texts in sides)
    return f'<dataset id="newstest"><doc id="d" origlang="en">{inside}</doc></dataset>'


def termbase():
    sides = "".join(
        f'<langSet xml:lang="{language}"><tig><term>{term}</term></tig></langSet>'
        for language, term in (("en", "dog"), ("de", "Hund"))
    )
    return f"<martif><text><body><termEntry>{sides}</termEntry></body></text></martif>"


#: by the names of files, what makes each of the texts that the name calls
MADE = {
    "ref.txt": lambda: lines(REFERENCE),
    "merged.txt": lambda: lines([*TEXTS["a"][:5], " ".join(TEXTS["a"][5:7]), TEXTS["a"][7]]),
    "ref2.txt": lambda: lines(TEXTS["ref2"]),
    "src.txt": lambda: lines(SOURCES),
    "ref.txt.gz": lambda: gzip.compress(lines(REFERENCE).encode()),
    "outputs": {f"{name}.txt": lambda name=name: lines(TEXTS[name]) for name in "ab"},
    "outputs.xlsx": workbook,
    "outputs.jsonl": lambda: rows(
        {"reference": r, "a": a, "b": b} for r, (a, b) in zip(REFERENCE, PAIRS, strict=True)
    ),
    "odd.csv": odd,
    "new.xlf": lambda: xliff(TEXTS["a"]),
    "best1.txt": lambda: best(TEXTS["a"]),
    "best2.txt": lambda: best(TEXTS["b"]),
    "comet.json": comet,
    "scores.tsv": scores,
    "newstest.en-de.xml": newstest,
    "terms.tbx": termbase,
    "wmt24": {
        "sources/en-de.txt": lambda: lines(SOURCES),
        "references/en-de.refA.txt": lambda: lines(REFERENCE),
        "system-outputs/en-de/a.txt": lambda: lines(TEXTS["a"]),
        "system-outputs/en-de/b.txt": lambda: lines(TEXTS["b"]),
        "documents/en-de.docs": lambda: "news d\n" * len(SOURCES),
    },
    **{
        f"{name}.{end}": (lambda name=name, make=make: make(TEXTS[name]))
        for name in ("ref", "a", "b")
        for end, make in {
            "txt": lines, "xlf": xliff, "sdlxliff": xliff, "mxliff": xliff, "tmx": tmx, "po": po,
            "srt": srt, "vtt": lambda texts: "WEBVTT\n\n" + srt(texts).replace(",", "."),
            "eval": inspect, "jsonl": batch,
        }.items()
    },
    **{
        f"run{number}": {
            "samples_qa.jsonl": lambda texts=texts: harness(texts),
            "details_qa.parquet": lambda texts=texts: lighteval(texts),
            "results.json": lambda texts=texts: lens(texts),
        }
        for number, texts in ((1, TEXTS["a"]), (2, TEXTS["b"]))
    },
}  # fmt: skip


def put(path, made):
    """What a name stands for, at a place."""
    if isinstance(made, dict):
        for name, inner in made.items():
            put(path / name, inner)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    content = made()
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def needed(words):
    """The files that a command names, each with what makes it."""
    for word in words:
        named = re.sub(r"^scores\('(.*)'\)$", r"\1", word)
        folder, _, inner = named.partition("/")
        made = MADE.get(folder)
        if isinstance(made, dict) and inner in made:
            yield named, made[inner]
        elif made is not None:
            yield folder, made


def _row(line):
    # base forms of words are loaded, which takes longer than all other lines together
    marks = [pytest.mark.verify] if "--glossary" in line else []
    return pytest.param(line.replace(r"\|", "|"), marks=marks)


@pytest.mark.parametrize("line", [*map(_row, _LINES)])
def test_the_command_for_files_of_a_kind_runs(line, tmp_path, monkeypatch, capsys):
    *before, words = map(shlex.split, line.split(" | "))
    for name, made in needed(sum(before, words)):
        put(tmp_path / name, made)
    monkeypatch.chdir(tmp_path)
    if before:
        monkeypatch.setattr("sys.stdin", io.StringIO((tmp_path / before[0][1]).read_text("utf-8")))
    assert main([*words[1:], "-f", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {row["system"] for row in said["rows"] if "reference:" not in row["system"]}
    assert (tmp_path / "noted.xlf").exists() == ("--notes" in words)


def test_the_page_has_a_line_for_each_kind_of_file():
    assert len(_LINES) == 26
