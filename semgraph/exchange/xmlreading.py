"""XML that may be hostile, read as a stream: no DTD, no entities, nothing fetched, and bounds on size and depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from semgraph.errors import ImportRejected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semgraph.exchange.lines import Bytes

__all__ = ["LARGER", "MAX_DEPTH", "MAX_SIZE", "MAX_TOKEN", "Handler", "parse"]

MAX_SIZE: Final = 64 << 20  # bytes, unpacked
MAX_DEPTH: Final = 64  # elements within each other
MAX_TOKEN: Final = 1 << 20  # bytes of one tag, and characters of text in one element
LARGER: Final = "split it, or take JSON lines, which have no such bound"
_READ: Final = 1 << 16

Name = tuple[str, str]  # namespace and local name


class Handler(Protocol):
    """What a format does with the elements; a ValueError that it raises is told with the line."""

    def start(self, name: Name, attributes: Mapping[Name, str], line: int) -> None:
        """An element begins."""

    def end(self, name: Name, text: str) -> None:
        """It ends; the text is what stood directly in it."""


def parse(source: Bytes, handler: Handler, shown: str) -> None:
    """Hand every element of the document to the handler.

    Args:
        source: the bytes of the file, within `MAX_SIZE`.
        handler: takes the elements in order.
        shown: what messages call the file.

    Raises:
        ImportRejected: forbidden_xml for a DTD or entities, bad_xml for what is not well-formed, oversize, or
            bad_row for what the handler refuses.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    target = _Target(handler, shown)
    parser = DefusedXMLParser(target=target, forbid_dtd=True)
    target.expat = expat = parser.parser
    fed = 0
    try:
        while data := source.read(_READ):
            fed += len(data)
            parser.feed(data)
            if fed - max(expat.CurrentByteIndex, 0) > MAX_TOKEN + _READ:
                raise ImportRejected("oversize", f"{shown}, line {expat.CurrentLineNumber}: a tag is far too long")
        parser.close()
    except DefusedXmlException:
        raise ImportRejected(
            "forbidden_xml",
            f"{shown}, line {expat.CurrentLineNumber}: a document type or entities are declared, which no graph needs "
            "and attacks use; remove the declaration",
        ) from None
    except ParseError as error:
        line, column = error.position
        why = str(error).partition(": line")[0]
        raise ImportRejected(
            "bad_xml", f"{shown}, line {line}, column {column + 1}: no well-formed XML ({why}); mend it or export again"
        ) from None
    except (LookupError, UnicodeError) as error:  # an encoding that nobody knows
        raise ImportRejected("bad_encoding", f"{shown}: {error}; save it as UTF-8") from None


class _Target:
    """Elements as a handler wants them, with the text that stands directly in each."""

    def __init__(self, handler: Handler, shown: str) -> None:
        self.expat: Any = None
        self._handler = handler
        self._shown = shown
        self._texts: list[list[str]] = []
        self._lengths: list[int] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if len(self._texts) >= MAX_DEPTH:
            raise ImportRejected("oversize", f"{self._at()}: elements stand in each other more than {MAX_DEPTH} deep")
        self._texts.append([])
        self._lengths.append(0)
        named = {_name(key): value for key, value in attributes.items()}
        try:
            self._handler.start(_name(tag), named, self.expat.CurrentLineNumber)
        except ValueError as error:
            raise self._refused(error) from None

    def data(self, text: str) -> None:
        if self._texts:
            self._lengths[-1] += len(text)
            if self._lengths[-1] > MAX_TOKEN:
                raise ImportRejected("oversize", f"{self._at()}: a text is longer than {MAX_TOKEN:,} characters")
            self._texts[-1].append(text)

    def end(self, tag: str) -> None:
        self._lengths.pop()
        try:
            self._handler.end(_name(tag), "".join(self._texts.pop()))
        except ValueError as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """Nothing is kept for the parser to give back."""

    def _at(self) -> str:
        return f"{self._shown}, line {self.expat.CurrentLineNumber}"

    def _refused(self, error: ValueError) -> ImportRejected:
        return ImportRejected("bad_row", f"{self._at()}: {error}")


def _name(tag: str) -> Name:
    namespace, _, local = tag[1:].partition("}") if tag.startswith("{") else ("", "", tag)
    return namespace, local
