"""Languages: their names, codes and scripts."""

from __future__ import annotations

from functools import cache

from gnomon.core.data_files import data_beside

__all__ = ["english_names", "language_scripts", "listed_language", "short_codes"]


def english_names() -> dict[str, str]:
    """Codes of languages, and what these are called in English."""
    names: dict[str, str] = data_beside(__file__)["names"]
    return names


def short_codes() -> dict[str, str]:
    """Codes of three letters, as annotation campaigns of WMT wrote them, and those of two."""
    codes: dict[str, str] = data_beside(__file__)["short"]
    return codes


def listed_language(code: str) -> str:
    """The language whose words a written standard shares: Norwegian's, for Bokmål and Nynorsk."""
    standards: dict[str, str] = data_beside(__file__)["standards"]
    return standards.get(code, code)


@cache
def language_scripts() -> dict[str, str]:
    """Codes of languages, and the script that each is written in."""
    scripts = data_beside(__file__)["scripts"].items()
    return {language: script for script, languages in scripts for language in languages}
