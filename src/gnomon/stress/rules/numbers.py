"""Numbers in words and in digits, of English and German."""

from __future__ import annotations

from gnomon.core.data_files import data_beside

__all__ = ["VALUES", "spell_number"]


_NUMBERS: dict[str, dict[str, list[str]]] = data_beside(__file__)


def spell_number(value: int, language: str) -> str:
    """A number from 2 to 99 in words.

    >>> spell_number(34, "en"), spell_number(34, "de"), spell_number(12, "en")
    ('thirty-four', 'vierunddreißig', 'twelve')
    """
    small, tens = _NUMBERS[language]["small"], _NUMBERS[language]["tens"]
    if value <= len(small):
        return small[value - 1]
    ten, unit = tens[value // 10 - 2], value % 10
    if not unit:
        return ten
    if language == "en":
        return f"{ten}-{small[unit - 1]}"
    return f"{'ein' if unit == 1 else small[unit - 1]}und{ten}"


#: from 2 on: "one" is a pronoun, too
VALUES = {
    language: {spell_number(value, language): value for value in range(2, 100)}
    for language in _NUMBERS
}
