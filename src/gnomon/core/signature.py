"""How to make a number again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.core.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["VERSION", "Signature", "add_texts", "content_hash", "of_test_sets", "version"]

#: the one place that says it: the package takes it from here, and looking it up there is slow
VERSION = "0.1.0"

_RESERVED = str.maketrans({"|": "/", ":": "=", "\n": " ", "\r": " "})


def version() -> str:
    """The version of gnomon."""
    return VERSION


def content_hash(*parts: str | bytes) -> str:
    """A short, stable hash (16 hexadecimal digits) of some strings, boundaries included.

    >>> content_hash("ab", "c") == content_hash("a", "bc")
    False
    """
    digest = hashlib.blake2b(digest_size=8)
    add_texts(digest, parts)
    return digest.hexdigest()


def add_texts(digest: hashlib.blake2b, parts: Iterable[str | bytes]) -> None:
    """Add strings to a hash, boundaries included."""
    for text in parts:
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        digest.update(len(data).to_bytes(8, "little") + data)


def of_test_sets(signatures: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """From texts by name and test set: one per name where all agree, else one for each test set."""
    merged: dict[str, str] = {}
    for name in dict.fromkeys(name for name, _ in signatures):
        by_test_set = {label: text for (other, label), text in signatures.items() if other == name}
        if len(set(by_test_set.values())) == 1:
            merged[name] = next(iter(by_test_set.values()))
        else:
            merged |= {f"{name} on {label}": text for label, text in by_test_set.items()}
    return merged


@dataclass(frozen=True)
class Signature:
    """A metric's spec, and what it was bound to: ``SPEC|refs:1|...|gnomon:VERSION``.

    Attributes:
        spec: canonical spec string; reading it again gives the same metric.
        fields: what binding and scoring added (reference count, tagger, seed, ...), in order.
    """

    spec: str
    fields: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """The one-line form, ending in gnomon's version."""
        pairs = "".join(f"|{key}:{value}" for key, value in self.fields)
        return f"{self.spec}{pairs}|gnomon:{version()}"

    def adding(self, fields: Mapping[str, object] | None = None, /, **more: object) -> Signature:
        """This signature with further fields; bars and colons in values are replaced.

        >>> Signature("bleu").adding(refs=1, tagger="spacy:en").fields
        (('refs', '1'), ('tagger', 'spacy=en'))
        """
        added = {**(fields or {}), **more}
        clean = ((key, str(value).translate(_RESERVED)) for key, value in added.items())
        return Signature(self.spec, (*self.fields, *clean))

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Read the one-line form again.

        Raises:
            SpecError: a field is not of the form ``key:value``.
        """
        spec, *rest = _split_bars(text)
        fields: list[tuple[str, str]] = []
        for field in rest:
            key, colon, value = field.partition(":")
            if not colon:
                raise SpecError(f"field {field!r} of signature {text!r} is not key:value")
            if key != "gnomon":
                fields.append((key, value))
        return cls(spec, tuple(fields))


def _split_bars(text: str) -> list[str]:
    """Split at bars outside quotes, so that a quoted argument may hold one."""
    parts, quote, current = [], "", ""
    characters = iter(text)
    for character in characters:
        if quote and character == "\\":
            current += character + next(characters, "")
            continue
        if character in "'\"":
            quote = "" if quote == character else quote or character
        if character == "|" and not quote:
            parts.append(current)
            current = ""
        else:
            current += character
    return [*parts, current]
