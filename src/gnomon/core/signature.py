"""Signatures: everything needed to reproduce a number."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.core.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["VERSION", "Signature", "add_texts", "content_hash", "merge_signatures", "version"]

#: the one place that says it: the package takes it from here, and looking it up there is slow
VERSION = "1.0.0"

_RESERVED = str.maketrans({"|": "/", ":": "=", "\n": " ", "\r": " "})
#: what comes before the first bar; a quoted argument may hold one
_SPEC = re.compile(r"""(?:[^|'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|['"])*""", re.DOTALL)


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


def merge_signatures(signatures: Mapping[tuple[str, str], Signature]) -> dict[str, Signature]:
    """Signatures by name and test set: one per name where all agree, else one per test set."""
    merged: dict[str, Signature] = {}
    for name in dict.fromkeys(name for name, _ in signatures):
        by_test_set = {label: one for (other, label), one in signatures.items() if other == name}
        if len(set(by_test_set.values())) == 1:
            merged[name] = next(iter(by_test_set.values()))
        else:
            merged |= {f"{name} on {label}": one for label, one in by_test_set.items()}
    return merged


@dataclass(frozen=True)
class Signature(Mapping[str, str]):
    """A metric's spec, and what it was bound to: ``SPEC|refs:1|...|gnomon:VERSION``.

    It is a mapping from the names of its fields to what they say.

    Attributes:
        spec: canonical spec string; reading it again gives the same metric.
        fields: what binding and scoring added (reference count, tagger, seed, ...), in order.
        gnomon: the version that made the numbers; empty where another tool did.
    """

    spec: str
    fields: tuple[tuple[str, str], ...] = ()
    gnomon: str = VERSION

    def __getitem__(self, name: str) -> str:
        return dict(self.fields)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.fields))

    def __len__(self) -> int:
        return len(dict(self.fields))

    def __bool__(self) -> bool:
        return True  # one without fields, too

    def __str__(self) -> str:
        """The one-line form, ending in gnomon's version."""
        pairs = (f"|{key}:{value}" for key, value in self.fields)
        return f"{self.spec}{''.join(pairs)}{f'|gnomon:{self.gnomon}' if self.gnomon else ''}"

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
        """Read the one-line form again; it is printed as it was.

        Raises:
            SpecError: a field is not of the form ``key:value``.
        """
        spec = _SPEC.match(text)[0]  # type: ignore[index]  # it may be empty
        fields: list[tuple[str, str]] = []
        for field in text[len(spec) :].split("|")[1:]:
            key, colon, value = field.partition(":")
            if not colon:
                raise SpecError(f"field {field!r} of signature {text!r} is not key:value")
            fields.append((key, value))
        said_by = fields.pop()[1] if fields and fields[-1][0] == "gnomon" else ""
        return cls(spec, tuple(fields), said_by)
