"""XML from untrusted files: read by expat, without entities of its own and without other files."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from gnomon.core.errors import FormatError, GnomonError

if TYPE_CHECKING:
    from xml.parsers.expat import XMLParserType

DOCTYPE = (
    "declares a document type (<!DOCTYPE ...>), by which a file can name other files and grow"
    " without limit when read; {kind} have none, and such a file is not read. Where you trust"
    " it, take the declaration out"
)
_DEEPEST = 100


def parse(parser: XMLParserType, data: bytes, path: str) -> None:
    """Follow a parser through a whole file, and refuse one that is not well-formed."""
    try:
        parser.Parse(data, True)  # noqa: FBT003  # expat takes this by position only
    except GnomonError:
        raise
    except (LookupError, ValueError) as error:  # what Python's codecs say of its encoding
        raise FormatError(
            f"declares an encoding that cannot be read ({error}); convert it to UTF-8",
            path=path,
            line=1,
        ) from error
    except expat.ExpatError as error:
        raise FormatError(
            f"is not well-formed XML ({expat.ErrorString(error.code)}, column"
            f" {error.offset + 1}); fetch the file again, or mend it there",
            path=path,
            line=error.lineno,
        ) from error


def tree(
    data: bytes,
    path: str,
    kind: str,
    *,
    encoding: str | None = None,
    places: dict[Element, tuple[int, int]] | None = None,
) -> Element:
    """The elements of a file, by their names without name spaces.

    A document type that names a schema is passed over; one that declares anything is refused.

    Args:
        data: the file.
        path: how it is called in messages.
        kind: whose files these are, where one is refused: "TMX files".
        encoding: of the data, whatever they declare.
        places: where each element begins, in bytes, and where its end tag does, or, where it has
            none, what follows: filled here.

    Raises:
        FormatError: as :func:`parse`; the file declares entities, or its elements stand over 100
            deep.
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    deep = 0
    begun: list[int] = []

    def refuse(problem: str) -> FormatError:
        return FormatError(problem, path=path, line=parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal deep
        deep += 1
        if deep > _DEEPEST:
            raise refuse(f"holds elements that stand more than {_DEEPEST} deep; {kind} do not")
        begun.append(parser.CurrentByteIndex)
        builder.start(tag.rpartition(":")[2], attributes)

    def end(tag: str) -> None:
        nonlocal deep
        deep -= 1
        element = builder.end(tag.rpartition(":")[2])
        if places is not None:
            places[element] = (begun[-1], parser.CurrentByteIndex)
        begun.pop()

    def doctype(*named: object) -> None:
        if named[3]:  # something is declared inside
            raise refuse(DOCTYPE.format(kind=kind))

    def declared(*_: object) -> int:
        raise refuse(DOCTYPE.format(kind=kind))

    def skipped(name: str, *_: object) -> None:
        raise refuse(
            f"names the entity &{name}; of a document type in another file, which is not read;"
            " write the character in its place"
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = declared
    parser.ExternalEntityRefHandler = declared
    parser.SkippedEntityHandler = skipped
    parse(parser, data, path)
    return builder.close()
