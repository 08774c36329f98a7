"""Conversations in files: sessions of turns, as LongMemEval, LoCoMo and chat programs keep them, read into one form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.dates import parse_when
from semgraph.errors import RejectedError
from semgraph.exchange.moments import moment_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from semgraph.temporal import Bound

__all__ = ["Remark", "Session", "Turn", "is_conversation", "sessions_of", "spoken_at"]

_WEEKDAY: Final = re.compile(r"(\d{4})/(\d\d)/(\d\d) \(\w{3}\) (\d\d:\d\d)")
_LOCOMO_SESSION: Final = re.compile(r"session_(\d+)")
_TIMES: Final = ("timestamp", "created_at", "createdAt", "create_time", "date", "time")
#: What the roles of a chat are called; the first is whose memory it is.
USER: Final = "user"
ASSISTANT: Final = "assistant"
_ROLES: Final = {
    "user": USER, "human": USER, "assistant": ASSISTANT, "ai": ASSISTANT, "bot": ASSISTANT, "gpt": ASSISTANT,
    "model": ASSISTANT,
}  # fmt: skip


class Turn(NamedTuple):
    """What one speaker said at one go; `said_at` as the file tells it, `ref` names it within the file."""

    speaker: str
    text: str
    said_at: Bound | None = None
    ref: str = ""
    details: tuple[tuple[str, Any], ...] = ()


class Remark(NamedTuple):
    """What the makers of a file noted about a speaker: an observation, or an event with its date."""

    speaker: str
    text: str
    said_at: Bound | None
    ref: str
    date: Bound | None = None


class Session(NamedTuple):
    """Turns that belong together: what was said from greeting to goodbye."""

    id: str
    turns: tuple[Turn, ...]
    said_at: Bound | None = None
    remarks: tuple[Remark, ...] = ()


def spoken_at(value: object, reference: datetime) -> Bound | None:
    """When something was said, as files of conversations write it; None for what is no time.

    Without a zone it is read in that of the reference; numbers are seconds since 1970, or milliseconds.

    >>> from datetime import UTC, datetime
    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> [str(spoken_at(text, now)) for text in ("2023/04/10 (Mon) 17:50", "1:56 pm on 8 May, 2023", 1681149000)]
    ['2023-04-10T17:50Z', '2023-05-08T13:56Z', '2023-04-10T17:50:00Z']
    """
    if isinstance(value, (int, float)):
        return moment_of(value)
    if not isinstance(value, str) or not value.strip():
        return None
    text = _WEEKDAY.sub(r"\1-\2-\3T\4", value.strip())
    try:
        return parse_when(text, reference=reference)
    except RejectedError:
        return None


def is_conversation(document: object) -> str | None:
    """Which kind of conversation file a parsed document (or the first line of many) is; None if it is none.

    >>> is_conversation({"conv": "c1", "session": 1, "speaker": "Ann", "text": "Hello."})
    'locomo'
    >>> is_conversation([{"role": "user", "content": "Hello."}])
    'chat'
    """
    one = next((item for item in document if item), None) if isinstance(document, list) else document
    if not isinstance(one, dict):
        return None
    if "haystack_sessions" in one or ("session" in one and isinstance(one.get("turns"), list)):
        return "longmemeval"
    if isinstance(one.get("conversation"), dict) or ("conv" in one and "speaker" in one):
        return "locomo"
    if isinstance(one.get("messages"), list) or ("role" in one and "content" in one):
        return "chat"
    return None


def sessions_of(documents: Iterable[Any], kind: str, reference: datetime, *, title: str = "chat") -> list[Session]:
    """The sessions of parsed documents, or of the lines of a file, in their order; one without a name has the title.

    Raises:
        ValueError: something in it is not of that kind.
    """
    whole: list[Any] = []
    for document in documents:
        whole += document if isinstance(document, list) else [document]
    if not all(isinstance(one, dict) for one in whole):
        raise ValueError("each conversation, session or turn is an object")
    try:
        if kind == "chat":
            return list(_chat(whole, reference, title))
        return list((_longmemeval if kind == "longmemeval" else _locomo)(whole, reference))
    except (TypeError, KeyError, AttributeError):  # somewhere inside is another kind of value than is written there
        raise ValueError(f"something in it has not the shape that {kind} files have") from None


# -- LongMemEval


def _longmemeval(whole: list[dict[str, Any]], reference: datetime) -> Iterator[Session]:
    seen: set[str] = set()
    for item in whole:
        if "haystack_sessions" not in item:
            found = [(str(item.get("session") or ""), item.get("date"), item.get("turns"))]
        else:
            sessions = item["haystack_sessions"]
            ids = item.get("haystack_session_ids") or [f"session_{at}" for at in range(1, len(sessions) + 1)]
            dates = item.get("haystack_dates") or [None] * len(sessions)
            if not len(ids) == len(dates) == len(sessions):
                raise ValueError("haystack_sessions, haystack_session_ids and haystack_dates differ in length")
            found = list(zip(map(str, ids), dates, sessions, strict=True))
        for name, date, turns in found:
            if name not in seen:  # the haystacks of several questions may share sessions
                seen.add(name)
                said = spoken_at(date, reference)
                yield Session(name, tuple(_messages(turns, name, said, reference)), said)


def _messages(turns: object, name: str, said: Bound | None, reference: datetime) -> Iterator[Turn]:
    if not isinstance(turns, list):
        raise ValueError("the turns of a session are a list")  # noqa: TRY004 - told with the file
    for at, turn in enumerate(turns, 1):
        if not isinstance(turn, dict):
            raise ValueError(f"turn {at} of {name!r} is no object")  # noqa: TRY004 - see above
        text = _content(turn.get("content"))
        role = str(turn.get("role") or turn.get("speaker") or USER)
        when = next((spoken_at(turn[key], reference) for key in _TIMES if turn.get(key)), None) or said
        if text and role not in ("system", "developer", "tool", "function"):
            named = turn.get("name") if isinstance(turn.get("name"), str) else None
            details = tuple((key, turn[key]) for key in ("has_answer",) if isinstance(turn.get(key), bool))
            yield Turn(named or _ROLES.get(role.lower(), role), text, when, f"{name}#{at}", details)


def _content(content: object) -> str:
    """The text of a message: as it is, or of the parts that are text."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "\n".join(part for part in parts if isinstance(part, str))
    return content.strip() if isinstance(content, str) else ""


# -- LoCoMo


def _locomo(whole: list[dict[str, Any]], reference: datetime) -> Iterator[Session]:
    if any("conversation" in item for item in whole):
        for at, item in enumerate(whole, 1):
            yield from _locomo_item(item, str(item.get("sample_id") or at), reference)
        return
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in whole:
        groups.setdefault((str(line.get("conv")), str(line.get("session"))), []).append(line)
    for (conversation, number), lines in groups.items():
        said = spoken_at(lines[0].get("date_time"), reference)
        spoken = [line for line in lines if "text" in line or not {"observation", "event"} & line.keys()]
        turns = tuple(_line(line, f"{conversation}:{line.get('id') or at}", said) for at, line in enumerate(spoken, 1))
        remarks = tuple(_noted(line, conversation, number, said, reference) for line in lines if line not in spoken)
        yield Session(f"{conversation}:{number}", turns, said, remarks)


def _noted(line: Mapping[str, Any], conversation: str, number: str, said: Bound | None, reference: datetime) -> Remark:
    if "event" in line:
        date = spoken_at(line.get("date"), reference)
        return Remark(str(line.get("speaker")), str(line["event"]), date, f"{conversation}:events {number}", date)
    evidence = _evidence(conversation, line.get("evidence"))
    return Remark(str(line.get("speaker")), str(line["observation"]), said, evidence)


def _locomo_item(item: Mapping[str, Any], conversation: str, reference: datetime) -> Iterator[Session]:
    talk = item["conversation"]
    if not isinstance(talk, dict):
        raise ValueError("the conversation of a LoCoMo sample is an object")  # noqa: TRY004 - told with the file
    numbers = sorted(int(found[1]) for key in talk if (found := _LOCOMO_SESSION.fullmatch(key)))
    for number in numbers:
        said = spoken_at(talk.get(f"session_{number}_date_time"), reference)
        turns = talk[f"session_{number}"]
        if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
            raise ValueError(f"session_{number} is no list of turns")
        spoken = tuple(
            _line(turn, f"{conversation}:{turn.get('dia_id') or f'D{number}:{at}'}", said)
            for at, turn in enumerate(turns, 1)
        )
        remarks = (*_observed(item, number, conversation, said), *_happened(item, number, conversation, reference))
        yield Session(f"{conversation}:{number}", spoken, said, remarks)


def _line(turn: Mapping[str, Any], ref: str, said: Bound | None) -> Turn:
    speaker, text = turn.get("speaker"), turn.get("text")
    if not isinstance(speaker, str) or not isinstance(text, str):
        raise ValueError(f"the turn {ref!r} has no speaker or no text")  # noqa: TRY004 - told with the file
    caption = turn.get("image_caption") or turn.get("blip_caption")
    return Turn(speaker, text, said, ref, (("image_caption", caption),) if isinstance(caption, str) else ())


def _observed(item: Mapping[str, Any], number: int, conversation: str, said: Bound | None) -> Iterator[Remark]:
    noted = (item.get("observation") or {}).get(f"session_{number}_observation") or {}
    for speaker, found in noted.items():
        for text, evidence in found:
            yield Remark(speaker, str(text), said, _evidence(conversation, evidence))


def _happened(item: Mapping[str, Any], number: int, conversation: str, reference: datetime) -> Iterator[Remark]:
    events = dict((item.get("event_summary") or {}).get(f"events_session_{number}") or {})
    date = spoken_at(events.pop("date", None), reference)
    for speaker, texts in events.items():
        for text in texts:
            yield Remark(speaker, str(text), date, f"{conversation}:events {number}", date)


def _evidence(conversation: str, evidence: object) -> str:
    ids = evidence if isinstance(evidence, list) else [evidence]
    return f"{conversation}:{','.join(str(one) for one in ids if one) or 'observations'}"


# -- chats


def _chat(whole: list[dict[str, Any]], reference: datetime, title: str) -> Iterator[Session]:
    if all("messages" not in one for one in whole):
        yield _chat_session(title, whole, None, reference)
        return
    for at, one in enumerate(whole, 1):
        name = str(one.get("id") or one.get("title") or f"{title} {at}")
        said = next((spoken_at(one[key], reference) for key in _TIMES if one.get(key)), None)
        yield _chat_session(name, one.get("messages"), said, reference)


def _chat_session(name: str, messages: object, said: Bound | None, reference: datetime) -> Session:
    turns = tuple(_messages(messages, name, said, reference))
    return Session(name, turns, said or next((turn.said_at for turn in turns if turn.said_at), None))
