"""Findings to render: one as large as WMT19 German-English gives, one as hostile as can be."""

from __future__ import annotations

import hashlib
import io
import random
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.told import told

from gnomon.core.findings import (
    Bars,
    Cell,
    Column,
    Exhibit,
    ExhibitText,
    Finding,
    HeatMap,
    Highlight,
    Lines,
    Scatter,
    StackedBars,
    Table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: milliseconds that a browser may take for anything; machines that run tests are busy
PATIENCE = 180_000
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_SYSTEMS = (
    "Harbour_NMT.6750",
    "online-A.0",
    "online-B.0",
    "online-G.0",
    "online-X.0",
    "online-Y.0",
    "Meridian.7703",
    "North-Sea-MT.6482",
    "Quill.6981",
    "RWlike-Base.6508",
    "tartan-c2c.6801",
    "Tern-Transformer.6628",
    "uni-lakeside.6461",
    "uni-valley-ensemble.6520",
    "Wren.6974",
    "dfki-like.6478",
)
_POS = [
    "NOUN",
    "VERB",
    "PUNCT",
    "PROPN",
    "INTJ",
    "NUM",
    "PRON",
    "SYM",
    "SCONJ",
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "X",
    "CCONJ",
    "DET",
    "PART",
]
_ENTITIES = [
    "TIME",
    "WORK_OF_ART",
    "PERSON",
    "NORP",
    "CARDINAL",
    "MONEY",
    "EVENT",
    "ORDINAL",
    "DATE",
    "FAC",
    "ORG",
    "LAW",
    "PRODUCT",
    "PERCENT",
    "QUANTITY",
    "LANGUAGE",
    "GPE",
    "LOC",
]
_MORPHOLOGY = [
    "Number=Sing",
    "Number=Plur",
    "Tense=Past",
    "Tense=Pres",
    "Person=1",
    "Person=2",
    "Person=3",
    "Mood=Ind",
    "Mood=Imp",
    "Degree=Pos",
    "Degree=Cmp",
    "Degree=Sup",
    "Definite=Def",
    "Definite=Ind",
    "Gender=Fem",
    "Gender=Masc",
    "Gender=Neut",
    "VerbForm=Fin",
    "VerbForm=Inf",
    "VerbForm=Part",
    "VerbForm=Ger",
    "Voice=Pass",
    "Poss=Yes",
    "Reflex=Yes",
    "PronType=Rel",
]
_SEGMENTS = (
    (
        "harbour.12",
        "news",
        "Der Hafen von Lindau bleibt bis Freitag geschlossen, so die Stadt.",
        "The harbour of Lindau will remain closed until Friday, the city announced.",
    ),
    (
        "harbour.12",
        "news",
        "Drei Fischerboote wurden am Montag vor der Küste gefunden.",
        "Three fishing boats were found off the coast on Monday.",
    ),
    (
        "harbour.12",
        "news",
        "Ein Sprecher nannte die Schäden erheblich, aber beherrschbar.",
        "A spokeswoman called the damage considerable but manageable.",
    ),
    (
        "recipe.03",
        "kitchen",
        "Lassen Sie den Teig eine Stunde an einem warmen Ort ruhen.",
        "Let the dough rest in a warm place for one hour.",
    ),
    (
        "recipe.03",
        "kitchen",
        "Danach die Äpfel schälen und in dünne Scheiben schneiden.",
        "Then peel the apples and cut them into thin slices.",
    ),
    (
        "tram.88",
        "letters",
        "Warum fährt die Linie 7 sonntags nur noch alle vierzig Minuten?",
        "Why does line 7 run only every forty minutes on Sundays now?",
    ),
    (
        "tram.88",
        "letters",
        "Meine Mutter hat 1962 selbst am Bau der Brücke mitgearbeitet.",
        "My mother herself worked on the building of the bridge in 1962.",
    ),
    (
        "tram.88",
        "letters",
        "Ach, das hätten wir früher wissen müssen!",
        "Oh, we should have known that earlier!",
    ),
    (
        "market.41",
        "news",
        "Die Aktie der Kranich AG verlor 4,5 Prozent und schloss bei 31 Euro.",
        "Shares of Kranich AG lost 4.5 percent and closed at 31 euros.",
    ),
    (
        "market.41",
        "news",
        "Analystin Petra Holm erwartet für Norwegen ein ruhiges Quartal.",
        "Analyst Petra Holm expects a quiet quarter for Norway.",
    ),
    (
        "chess.07",
        "sport",
        "Im zweiten Satz spielte sie mutiger und gewann fast jeden langen Ball.",
        "In the second set she played more boldly and won nearly every long rally.",
    ),
    (
        "chess.07",
        "sport",
        "Die Trainerin war mit dem Ergebnis zufriedener als mit dem Spiel.",
        "The coach was happier with the result than with the match.",
    ),
)
_SWAPS = {
    "harbour": "port",
    "remain": "stay",
    "announced": "said",
    "boats": "vessels",
    "found": "discovered",
    "damage": "harm",
    "considerable": "significant",
    "dough": "pastry",
    "rest": "sit",
    "apples": "apple",
    "thin": "fine",
    "slices": "discs",
    "run": "go",
    "forty": "40",
    "mother": "mum",
    "building": "construction",
    "bridge": "bridges",
    "known": "knew",
    "earlier": "before",
    "Shares": "The stock",
    "lost": "fell",
    "closed": "shut",
    "expects": "awaits",
    "quiet": "calm",
    "quarter": "district",
    "boldly": "bravely",
    "won": "gained",
    "rally": "exchange",
    "coach": "trainer",
    "happier": "more content",
    "match": "game",
    "spokeswoman": "spokesman",
    "Friday": "Fridays",
    "Analyst": "Analysts",
}
_WORDS = {
    "pos:NOUN": (
        "harbour port city boats vessels coast spokeswoman spokesman damage harm dough"
        " pastry place hour apples apple slices discs line minutes mother mum building"
        " construction bridge bridges Shares stock percent euros Analyst Analysts quarter"
        " district set rally exchange coach trainer result match game"
    ),
    "pos:VERB": (
        "remain stay closed shut announced said found discovered called Let rest sit peel"
        " cut run go worked known knew lost fell expects awaits played won gained"
    ),
    "pos:PROPN": ("Lindau Kranich AG Petra Holm Norway Friday Fridays Monday Sundays"),
    "pos:ADJ": (
        "considerable significant manageable warm thin fine quiet calm second long happier"
    ),
    "ent:DATE": ("Friday Fridays Monday Sundays 1962"),
    "ent:PERSON": ("Petra Holm"),
}
COLUMNS = (
    Column("system", "System"),
    Column("metric", "Metric"),
    Column("feature", "Feature"),
    Column("variant", "Variant"),
    Column("slice", "Slice"),
    Column("segments", "|I|", "count", help="Segments where both sides have the feature."),
    Column(
        "muler",
        "MuLER",
        "share",
        2,
        "lower",
        "Share of the reachable gain that a system leaves on a feature; 0 is perfect.",
    ),
    Column("base", "Base", "number", 1, "higher", "Mean sentence score over these segments."),
    Column(
        "base_all", "Base, all", "number", 1, "higher", "Mean sentence score over all segments."
    ),
    Column("oracle", "Oracle", "number", 1, help="The same mean with the feature masked alike."),
    Column("anti_oracle", "Anti-oracle", "number", 1, help="... masked differently on each side."),
    Column(
        "spread", "Max - min", "number", 1, help="What the feature is worth: oracle - anti-oracle."
    ),
    Column("add", "Add", "share", 2, help="Share of segments with more of it than the reference."),
    Column("miss", "Miss", "share", 2, help="Share of segments with less of it."),
    Column("hit", "Hit", "share", 2, help="Share of segments with as much of it."),
    Column("neither", "Neither", "share", 2, help="Share of segments without it on either side."),
    Column("outside", "Outside [0, 1]", help="the two sides are tagged differently"),
)


def _row(
    rng: random.Random, system: int, feature: str, rarity: float, where: tuple[str, str, str]
) -> dict[str, Cell]:
    metric, variant, slice_ = where
    segments = max(0, round(2000 * rarity + rng.gauss(0, 12)))
    base_all = 41 - 1.3 * system
    base = base_all + rng.gauss(0, 1.5)
    spread = 3 + 22 * rarity + abs(rng.gauss(0, 1))
    ratio = 0.16 + 0.012 * system + rng.gauss(0, 0.03 + 0.12 * (rarity < 0.02))
    undefined = segments < 3
    hit, miss = rarity * 0.7, rarity * 0.2
    cells: tuple[Cell, ...] = (
        _SYSTEMS[system],
        metric,
        feature,
        variant,
        slice_,
        segments,
        None if undefined else ratio,
        None if undefined else base,
        base_all,
        None if undefined else base + ratio * spread,
        None if undefined else base + (ratio - 1) * spread,
        None if undefined else spread,
        rarity * 0.12,
        miss,
        hit,
        1 - hit - miss - rarity * 0.12,
        not undefined and not 0 <= ratio <= 1,
    )
    return dict(zip((c.name for c in COLUMNS), cells, strict=True))


def _candidate(rng: random.Random, reference: str, rate: float) -> str:
    words = reference.split(" ")
    return " ".join(_swapped(word) if rng.random() < rate else word for word in words)


def _swapped(word: str) -> str:
    bare = word.rstrip(".,!?")
    return _SWAPS.get(bare, bare) + word[len(bare) :]


def _highlights(text: str, feature: str) -> tuple[Highlight, ...]:
    wanted, found, start = set(_WORDS[feature].split()), [], 0
    for word in text.split(" "):
        bare = word.rstrip(".,!?")
        if bare in wanted:
            found.append(Highlight(start, start + len(bare), feature))
        start += len(word) + 1
    return tuple(found)


def _exhibit(rng: random.Random, feature: str, number: int, systems: Sequence[str]) -> Exhibit:
    document, domain, source, reference = _SEGMENTS[number % len(_SEGMENTS)]
    texts = [
        ExhibitText("source", "", source),
        ExhibitText("reference", "refA", reference, _highlights(reference, feature)),
    ]
    for index, system in enumerate(systems):
        text = _candidate(rng, reference, 0.1 + 0.05 * index)
        base = rng.uniform(15, 60)
        values = {"base": base, "oracle": base + rng.uniform(0, 25), "anti_oracle": base - 5}
        texts.append(ExhibitText("candidate", system, text, _highlights(text, feature), values))
    kind = "costs most" if number % 4 else "negative"
    return Exhibit(
        feature,
        kind,
        137 * (number + 1),
        tuple(texts),
        tuple(rng.sample(systems, min(4, len(systems)))),
        document,
        domain,
        rng.uniform(1, 25),
        "" if number % 3 else "Most systems miss it.",
    )


def make_finding(
    systems: int = 16, *, metrics: Sequence[str] = ("bleu", "chrf"), exhibits: int = 12
) -> Finding:
    """As large as the real thing: 60 features, two variants, two slices."""
    rng = random.Random(7)  # invented numbers
    features = [f"pos:{n}" for n in _POS] + [f"ent:{n}" for n in _ENTITIES]
    features += [f"morph:{n}" for n in _MORPHOLOGY]
    rarities = {f: min(0.95, rng.paretovariate(0.6) / 60) for f in features}
    rarities["pos:X"] = 0.0
    settings = [(m, v, "") for m in metrics for v in ("ratio", "segment-clipped")]
    settings += [(m, "ratio", s) for m in metrics for s in ("domain:news", "domain:letters")]
    rows = tuple(
        _row(rng, k, feature, rarity, where)
        for where in settings
        for feature, rarity in rarities.items()
        for k in range(systems)
    )
    names = _SYSTEMS[:systems]
    shown = tuple(
        _exhibit(rng, feature, number, names) for feature in _WORDS for number in range(exhibits)
    )
    first: dict[str, Cell] = {"metric": metrics[0], "variant": "ratio", "slice": ""}
    views = (
        HeatMap(
            "muler",
            "MuLER by feature and system",
            "feature",
            "system",
            "muler",
            "segments",
            first,
            0.0,
            0.6,
            "outside",
            exhibits=True,
        ),
        Bars(
            "muler",
            "One or two systems in detail",
            "feature",
            "system",
            ("muler", "base", "spread"),
            first,
            names[:2],
            2,
            "segments",
        ),
        Bars("muler", "All systems, feature by feature", "feature", "system", ("muler",), first),
        StackedBars(
            "muler",
            "Too much, too little, as much",
            "feature",
            "system",
            ("add", "miss", "hit"),
            first,
        ),
    )
    return Finding(
        "muler",
        "What each feature costs",
        (Table("muler", "All numbers", COLUMNS, rows, "Undefined where |I| = 0."),),
        {
            m: f"{m}|refs:1|case:mixed|tok:13a|overlap:any|tagger:en_sm=3.8.0|gnomon:0.1"
            for m in metrics
        },
        views,
        shown,
        (
            told("pos:X occurs in no reference: its cells are undefined.", "note"),
            told("5 cells lie outside [0, 1]; their segments are listed as negative.", "note"),
        ),
        {
            "Test set": "newstest2019 de-en",
            "Systems": str(systems),
            "Segments": "2,000",
            "References": "refA",
            "Metrics": ", ".join(metrics),
            "Tagger": "spacy:en_core_web_sm 3.8.0",
        },
    )


HOSTILE = (
    "<script>window.broken=1</script>",
    "</script><script>window.broken=2</script>",
    "<!-- <script> ]]>",
    "\"'><img src=x onerror=window.broken=3>",
    "\u202eevil\u202c\u200f mark",
    "[bold]x[/bold] [link=http://x.test]y[/link] :smile:",
    "\x1b[31mred\x1b[0m \x9b2J",
    "{{ 7 * 7 }} {% raw %} ${x} `y`",
    "=HYPERLINK(1)",
    "a\tb\nc\u2028d",
    "__proto__",
    "constructor",
)


def make_hostile() -> Finding:
    """Everything that comes from data tries to be more than text."""
    rows = tuple(
        dict(
            zip(
                (c.name for c in COLUMNS),
                (
                    system,
                    HOSTILE[0],
                    "pos:" + feature,
                    HOSTILE[1],
                    HOSTILE[2],
                    5,
                    0.25 * (i % 6),
                    10.0,
                    12.0,
                    15.0,
                    5.0,
                    10.0,
                    0.1,
                    0.2,
                    0.3,
                    0.4,
                    i % 6 > 4,
                ),
                strict=True,
            )
        )
        for i, system in enumerate(HOSTILE)
        for feature in HOSTILE
    )
    where: dict[str, Cell] = {"metric": HOSTILE[0], "variant": HOSTILE[1], "slice": HOSTILE[2]}
    exhibits = tuple(
        Exhibit(
            "pos:" + text,
            HOSTILE[i - 1],
            i + 1,
            (
                ExhibitText("source", "", text),
                ExhibitText("reference", text, text, (Highlight(0, 2, text),), {text: 1.0}),
                *(
                    ExhibitText("candidate", s, s, (Highlight(1, 4, text),), {"base": None})
                    for s in HOSTILE
                ),
            ),
            HOSTILE,
            text,
            text,
            1.0,
            text,
        )
        for i, text in enumerate(HOSTILE)
    )
    views = (
        HeatMap(
            "muler",
            HOSTILE[1],
            "feature",
            "system",
            "muler",
            "segments",
            where,
            0.0,
            1.0,
            "outside",
            exhibits=True,
        ),
        Bars(
            "muler",
            HOSTILE[0],
            "feature",
            "system",
            ("muler", "base"),
            where,
            HOSTILE[:2],
            2,
            "segments",
        ),
        Bars("muler", HOSTILE[3], "feature", "system", ("muler",), where),
        StackedBars("muler", HOSTILE[2], "feature", "system", ("add", "miss", "hit"), where),
        Scatter("muler", HOSTILE[4], "muler", "base", "system", "system", "feature", where),
        Lines("muler", HOSTILE[5], "add", "muler", "system", "feature", where, "miss", "hit"),
    )
    return Finding(
        HOSTILE[0],
        HOSTILE[1],
        (Table("muler", HOSTILE[2], COLUMNS, rows, HOSTILE[3]),),
        {text: text for text in HOSTILE},
        views,
        exhibits,
        tuple(told(one, "note") for one in HOSTILE),
        {text: text for text in HOSTILE},
    )


@pytest.fixture(scope="session")
def finding() -> Finding:
    return make_finding()


@pytest.fixture(scope="session")
def hostile() -> Finding:
    return make_hostile()


class Patient:
    """A browser whose pages wait as long as a busy machine needs."""

    def __init__(self, made: Any) -> None:
        self._made = made

    def new_page(self, **options: Any) -> Any:
        return self._waiting(self._made.new_page(**options))

    def new_context(self, **options: Any) -> Any:
        return self._waiting(self._made.new_context(**options))

    def _waiting(self, opened: Any) -> Any:
        opened.set_default_timeout(PATIENCE)
        return opened


@pytest.fixture
def expect(browser: Any) -> Any:
    """What waits until a page is as said: keys, focus and addresses arrive when they arrive."""
    from playwright.sync_api import expect as said

    said.set_options(timeout=PATIENCE)
    return said


#: axe-core of npm, pinned to the byte
AXE = "axe-core@4.14.1"
_AXE_HASH = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, which looks for barriers in pages; kept beside the tests' Python."""
    kept = Path(sys.prefix) / f"{AXE}.tgz"
    if not kept.is_file():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip(f"{AXE} cannot be had: npm is not installed")
        folder = tmp_path_factory.mktemp("axe")
        got = subprocess.run(
            [npm, "pack", AXE, "--silent"], cwd=folder, capture_output=True, check=False
        )
        packed = list(folder.glob("*.tgz"))
        if got.returncode or not packed:
            pytest.skip(f"npm could not fetch {AXE}: {got.stderr.decode()[-200:]}")
        scratch = kept.with_name(f"{kept.name}.{folder.name}")
        shutil.copy(packed[0], scratch)
        scratch.replace(kept)
    content = kept.read_bytes()
    assert hashlib.sha256(content).hexdigest() == _AXE_HASH, f"{kept} is not {AXE}; delete it"
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


def barriers(page: Any, axe: str) -> list[tuple[str, str]]:
    """What axe-core finds on a page that is more than minor: the rule, and the first element."""
    page.evaluate(axe)
    # label-content-name-mismatch (WCAG 2.5.3) is off where it is not asked for
    asked = "{resultTypes: ['violations'], rules: {'label-content-name-mismatch': {enabled: true}}}"
    found = page.evaluate(f"axe.run(document, {asked})")["violations"]
    return [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] != "minor"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    # the shell has no windows to draw: a page takes a third of the time
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    path = next(filter(None, map(shutil.which, names)), None)
    if not path:
        pytest.skip("Chromium is not installed")
    with api.sync_playwright() as play:
        made = play.chromium.launch(executable_path=path, args=ARGUMENTS, timeout=PATIENCE)
        yield Patient(made)
        made.close()
