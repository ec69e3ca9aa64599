"""Word lists that come with gnomon: ``lex:gender`` needs no file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gnomon.annotate._lexicon import bare_name
from gnomon.annotate._names import is_wildcard
from gnomon.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    Lists: TypeAlias = Mapping[str, str | PathLike[str] | Sequence[str]]

__all__ = ["built_in_lists", "with_built_in"]

_FOLDER = Path(__file__).parent / "lexicons"
_KIND = "lex:"


def built_in_lists() -> dict[str, dict[str, Path]]:
    """The lists that come with gnomon: name -> language -> file."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(_FOLDER.glob("*.txt")):
        name, _, language = path.stem.partition(".")
        found.setdefault(name, {})[language] = path
    return found


def with_built_in(given: Lists | None, asked: Iterable[str], language: str | None) -> Lists | None:
    """The user's lists, and those of ours that are asked for by name; the user's go first.

    Args:
        given: the user's lists by name.
        asked: names of features.
        language: "en", or a pair "de-en", of which the target counts; unknown: any.

    Raises:
        UnknownNameError: neither the user nor gnomon has a list of that name.
        UsageError: gnomon has it in other languages only.
    """
    wanted = [n.removeprefix(_KIND) for n in asked if n.startswith(_KIND) and not is_wildcard(n)]
    own = {bare_name(name) for name in given or ()}
    lists = built_in_lists()
    for name in wanted:
        if name not in own and name not in lists:
            raise UnknownNameError(
                "feature",
                f"{_KIND}{name}",
                [f"{_KIND}{known}" for known in dict.fromkeys([*sorted(own), *lists])],
                remedy="give a word list (--lexicon NAME=FILE; lexicons={NAME: FILE})",
            )
    ours = {n: _fitting(n, lists[n], language) for n in wanted if n not in own}
    return {**(given or {}), **ours} or None


def _fitting(name: str, files: Mapping[str, Path], language: str | None) -> Path:
    if language is None:
        return next(iter(files.values()))
    target = language.rsplit("-", maxsplit=1)[-1].lower()
    if target not in files:
        raise UsageError(
            f"the built-in word list {name!r} is there for {', '.join(files)}, and the texts are in"
            f" {target!r}; give a list of that language with --lexicon {name}=FILE"
        )
    return files[target]
