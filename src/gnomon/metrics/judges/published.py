"""The published prompts of GEMBA, word for word, from a copy that the user has.

GEMBA (https://github.com/MicrosoftTranslator/GEMBA, Kocmi and Federmann 2023) is licensed under
CC BY-SA 4.0, and its examples are sentences of others. So none of its text stands here: only the
SHA-256 of each of its strings, and how prompts are put together from them. What has these hashes is
what was published, from whichever copy it comes.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.cache import default_path
from gnomon.core.errors import FormatError, MissingFileError, UnknownNameError, UsageError
from gnomon.core.signature import content_hash
from gnomon.data.formats import read_bytes, write_lines
from gnomon.metrics.judges.rubrics import Rubric, Shot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from os import PathLike

    from gnomon.metrics.judges.rubrics import AnswerKind, ReplyForm

LICENCE = "CC BY-SA 4.0"
#: strings of the published prompts -> the hashes of their published forms, the repository's first
HASHES: Mapping[str, tuple[str, ...]] = {
    "da": ("460bc6b63915ffdb83c452c6c45780549bd2dbb62303500a3df9c7a75b58cfd0",),
    "da reference": (
        "f47fb123d605b6629a9dd9467a254d4d4e27d0a1f69f6eb803fb733b14b1003a",  # reference in quotes
        "b6db1179c3b3858281f8caf3b5fba461e97e7f1df8e990b22196314de1894ee4",  # without
    ),
    "sqm": ("629e4ae43df668fb1b33d94fc20898bc448d2235059dadfb242d5dc171f31565",),
    "sqm reference": ("909326d84b11f3a9de06f5db1d16eae4f53e008773090bf1a029cd50e0956d2e",),
    "stars": ("33c160f371c2f02aee965e03f406a3bde1b097c1c0fa749c3191096fd5bf303c",),
    "stars reference": ("a7c0e34939b138730cb64be49a7e8994bb37cc79b9d755375d9b833c6963919f",),
    "classes": ("7db098a3872d47112b063a0fe44b2784c31f1f614eb5e98ce16b598e87b2b67d",),
    "classes reference": ("bfe5631c1678339146534ee0f81f05eac96c385caa4a5aababcadaea1a727224",),
    "mqm system": ("f9a0f83a0cc15cb9c2c3f0a4e2c09d090495381bcb255cdf8fc26f60904cc294",),
    "mqm": ("30dad0dc63bef5f381431457267a918cc19422d52249cba292aa8e8888144a2c",),
    "esa system": ("10bece5b41e95cd8c25279f7acf32d85f6b188f0209f20bf789da5b1feec6b85",),
    "esa": ("7f2b4ba3af10b5bf43a219227228c431c3260ffbe663242db621d27e1376e6a7",),
    "esa score": ("8f8548fbb8350ce1366a6e0d9153876c51c760002c115ac8b7a6a91cd61dd387",),
    "shot 1 source": ("5d63ae2f37cc5d8cee10efb2ba03f1efccb10425d0a72ffef1e25814293f84a3",),
    "shot 1 candidate": ("2370d2ca49bb3f96703fe53086fe040a999e5a94032425c69eeb214d6c629719",),
    "shot 1 mqm": ("c3127c2b83dace053dcae742c34cf5f383659fdb4998503cd649354810a8cb2e",),
    "shot 1 esa": ("b447af357005315abd6290b97425c4b64df3084f033d3f49b4eaacaa7ae85ed2",),
    "shot 2 source": ("a734088674602588dc885f2333622b012178f13fffb56dbc153e75e932f3651f",),
    "shot 2 candidate": ("181e9de0692ed7329b57a8a3b0130808d584c662f4c88fb1ebd30952eb43f9fe",),
    "shot 2 mqm": ("3994f12bf358455bd663e994062173a2677bcb4bdfdae83765ecf517d2eb98e6",),
    "shot 2 esa": ("a497ff23b77ccb5f33e567d2041ba5c67a64cdaa8b7d3432ec85fa8747f23b5a",),
    "shot 3 source": ("5bf4abe6489e777a34763db578d2f79fa47e62fb446b202e7632852e64ab8d2e",),
    "shot 3 candidate": ("1fc57a65ce8af8e6ae38e6a7f511fec052912be5cb627150926fe52121e2bffe",),
    "shot 3 mqm": ("1f71896154b62c951294890c1387f72fa9ab833bfbfb756f6b8db64557c64ea4",),
    "shot 3 esa": ("66b1785a90de9d65e7a15e16cf01123fbb64ccf258c88282d917d5323bd3fa56",),
}
#: languages of the shots
_SHOTS = (("English", "German"), ("English", "Czech"), ("Chinese", "English"))
#: what the places of the published prompts are called here
_PLACES = {
    "{source_lang}": "{source_language}",
    "{target_lang}": "{target_language}",
    "{source_seg}": "{source}",
    "{target_seg}": "{candidate}",
    "{reference_seg}": "{reference}",
    "{error_spans}": "{answer}",
}
#: rubric -> what an answer holds, how it is written, its scale
_RUBRICS: Mapping[str, tuple[AnswerKind, ReplyForm, tuple[float, float]]] = {
    "gemba-da": ("score", "plain", (0, 100)),
    "gemba-sqm": ("score", "plain", (0, 100)),
    "gemba-stars": ("score", "stars", (1, 5)),
    "gemba-classes": ("score", "plain", (0, 4)),
    "gemba-mqm": ("errors", "plain", (-25, 0)),
    "gemba-esa": ("errors-then-score", "plain", (0, 100)),
}
_WITH_SHOTS = ("mqm", "esa")
_PACKAGE = "gemba"
_LARGEST = 1 << 20  # bytes of a file
_MOST_FILES = 1000
_GET = (
    f"get a copy (pip download --no-deps {_PACKAGE}, or a checkout of"
    " github.com/MicrosoftTranslator/GEMBA) and give it to gnomon once: gnomon setup prompts FILE"
)


def published_rubric(name: str, *, references: bool = False) -> Rubric:
    """A published prompt as a rubric, from the user's copy of GEMBA.

    Args:
        name: ``gemba-da``, ``gemba-sqm``, ``gemba-stars``, ``gemba-classes``, ``gemba-mqm`` or
            ``gemba-esa``.
        references: take its form with a reference.

    Raises:
        UnknownNameError: there is no such published prompt.
        UsageError: it has no form with a reference, or there is no copy of its text.
    """
    if name not in _RUBRICS:
        remedy = "name one of them, or leave out variant='published'"
        raise UnknownNameError("published rubric", name, tuple(_RUBRICS), remedy=remedy)
    kind = name.removeprefix("gemba-")
    names = _strings_of(kind, references=references)
    if names[0] not in HASHES:
        raise UsageError(f"the published {name} shows no reference; leave out references=True")
    texts = _known_texts(prompts_file())
    if not texts.keys() >= set(names):
        raise UsageError(
            f"the published text of {name} ({LICENCE}) is no part of gnomon; {_GET}, or leave out"
            " variant='published' for the rubric in gnomon's words"
        )
    answer, reply, scale = _RUBRICS[name]
    question = _with_our_places(texts[names[0]])
    return Rubric(
        name=name,
        about=f"the published prompt ({LICENCE}), word for word",
        answer=answer,
        system=texts.get(f"{kind} system", ""),
        question=question,
        scale=scale,
        higher_is_better=True,
        reasons=False,
        penalties=({} if kind == "esa" else {"critical": 25.0}) | {"major": 5.0, "minor": 1.0},
        most=25.0,
        identity=content_hash(*(texts[key] for key in names)),
        score_question=_with_our_places(texts.get(f"{kind} score", "")),
        reply=reply,
        classes=_classes(question) if kind == "classes" else {},
        counted=5,
        fenced=False,
        score_system="",
        shots=tuple(_shots(kind, texts)) if kind in _WITH_SHOTS else (),
    )


def _strings_of(kind: str, *, references: bool = False) -> list[str]:
    """Names of the strings of a prompt, that of its question first."""
    names = [f"{kind} reference" if references else kind]
    names += [name for name in (f"{kind} system", f"{kind} score") if name in HASHES]
    if kind in _WITH_SHOTS:
        endings = ("source", "candidate", kind)
        names += [f"shot {n + 1} {ending}" for n in range(len(_SHOTS)) for ending in endings]
    return names


def _with_our_places(text: str) -> str:
    for theirs, ours in _PLACES.items():
        text = text.replace(theirs, ours)
    return text


def _classes(question: str) -> dict[str, float]:
    """The classes that a question names, worst first."""
    named = re.findall(r'"([^"{}]+)"', question.partition("\n")[0])
    return {name: float(n) for n, name in enumerate(named)}


def _shots(kind: str, texts: Mapping[str, str]) -> Iterator[Shot]:
    for number, (source, target) in enumerate(_SHOTS, start=1):
        sides = {side: texts[f"shot {number} {side}"] for side in ("source", "candidate")}
        languages = {"source_language": source, "target_language": target}
        yield Shot(sides, languages, texts[f"shot {number} {kind}"])


# The user's copy.


def prompts_file() -> Path:
    """Where :func:`keep_prompts` writes."""
    return default_path() / "prompts" / "gemba.json"


def keep_prompts(path: str | PathLike[str]) -> dict[str, bool]:
    """Keep the published strings of a copy of GEMBA, so that judges find them.

    Args:
        path: a wheel or another ZIP file, a folder, or a file of Python. Nothing of it is run.

    Returns:
        Name of a rubric -> whether all its strings are there now.

    Raises:
        MissingFileError: there is nothing of this name.
        FormatError: no published string stands in it.
    """
    texts = _texts_in(Path(path))
    if not texts:
        raise FormatError(f"holds no string of the published prompts; {_GET}", path=str(path))
    file = prompts_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    known = _kept_texts(file) | texts
    write_lines(file, [json.dumps(list(known.values()), ensure_ascii=True)])
    _known_texts.cache_clear()
    kinds = {name: name.removeprefix("gemba-") for name in _RUBRICS}
    return {name: known.keys() >= set(_strings_of(kind)) for name, kind in kinds.items()}


@functools.cache
def _known_texts(kept: Path) -> dict[str, str]:
    """The published strings by name: those that were kept, else of an installed package."""
    texts = _kept_texts(kept)
    if texts.keys() >= HASHES.keys():
        return texts
    installed = importlib.util.find_spec(_PACKAGE)  # finds it, and runs nothing
    if installed is None or not installed.submodule_search_locations:
        return texts
    return _texts_in(Path(installed.submodule_search_locations[0])) | texts


def _kept_texts(file: Path) -> dict[str, str]:
    if not file.exists():
        return {}
    try:
        given = json.loads(read_bytes(file))
    except (ValueError, RecursionError):
        given = []
    return _by_name(text for text in given if isinstance(text, str))


def _texts_in(path: Path) -> dict[str, str]:
    """The published strings that stand in files of Python, by name."""
    return _by_name(text for code in _programs(path) for text in _strings(code))


def _by_name(texts: Iterable[str]) -> dict[str, str]:
    """Those of some texts that were published; of several forms, the first of :data:`HASHES`."""
    by_hash = {
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(): text for text in texts
    }
    return {
        name: next(by_hash[form] for form in forms if form in by_hash)
        for name, forms in HASHES.items()
        if not by_hash.keys().isdisjoint(forms)
    }


def _programs(path: Path) -> Iterator[bytes]:
    """The files of Python of a folder or a ZIP file, or a file itself; those too large left out."""
    if not path.exists():
        raise MissingFileError(f"{path}: no such file or folder; {_GET}")
    if path.is_dir():
        for file in sorted(path.rglob("*.py"))[:_MOST_FILES]:
            if file.stat().st_size <= _LARGEST:
                yield file.read_bytes()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".py")]
            for member in members[:_MOST_FILES]:
                if member.file_size <= _LARGEST:
                    with archive.open(member) as code:
                        yield code.read(_LARGEST + 1)
    elif path.stat().st_size <= _LARGEST:
        yield path.read_bytes()


def _strings(code: bytes) -> Iterator[str]:
    """The string constants of a program; it is parsed, and never run."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
