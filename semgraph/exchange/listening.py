"""A file that is to be listened to: its sessions if it is a conversation, else its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from semgraph.errors import ImportRejected
from semgraph.exchange.conversations import is_conversation, sessions_of
from semgraph.exchange.jsonfiles import documents_in
from semgraph.exchange.lines import reading_bytes, shown_name

if TYPE_CHECKING:
    from datetime import datetime

    from semgraph.exchange.conversations import Session
    from semgraph.exchange.lines import Place

__all__ = ["conversation_of"]

_MAX_SIZE: Final = 64 << 20


def conversation_of(place: Place, kind: str | None, reference: datetime) -> str | list[Session]:
    """The sessions of a conversation file, or the text of any other one; `kind` "text" takes JSON as text too.

    Raises:
        ImportRejected: it is not of the kind that is said, no UTF-8, or too large.
    """
    shown = shown_name(place)
    with reading_bytes(place, _MAX_SIZE, "split it") as file:
        data = file.read()
    if kind != "text" and data.lstrip()[:1] in (b"{", b"["):
        documents = documents_in(data, shown)
        found = is_conversation(documents[0]) if documents else None
        if found is None or (kind is not None and found != kind):
            wanted = "conversations that are known here" if kind is None else f"conversations as {kind} has them"
            raise ImportRejected("foreign", f"{shown} holds no {wanted}")
        try:
            return sessions_of(documents, found, reference, title=shown)
        except ValueError as error:
            raise ImportRejected("bad_row", f"{shown}: {error}") from None
    if kind not in (None, "text"):
        raise ImportRejected("foreign", f"{shown} is no JSON, and {kind} is")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportRejected("bad_encoding", f"{shown}: byte {error.start + 1} is no UTF-8; save it as UTF-8") from None
