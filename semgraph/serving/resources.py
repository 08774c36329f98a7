"""What a client may read and follow without a tool: the profile, the conflicts, an entity's timeline."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from semgraph.serving import inputs, reads
from semgraph.serving.faults import CallRefused

if TYPE_CHECKING:
    from semgraph.serving.desk import Desk

__all__ = [
    "CONFLICTS",
    "PROFILE",
    "RESOURCES",
    "TEMPLATES",
    "TIMELINE",
    "Place",
    "completions",
    "digest",
    "known",
    "text_of",
]

PROFILE: Final = "semgraph://profile"
CONFLICTS: Final = "semgraph://conflicts"
TIMELINE: Final = "semgraph://timeline/{entity}"
_TIMELINE: Final = "semgraph://timeline/"
_MOST_NAMES: Final = 50


@dataclass(frozen=True, slots=True)
class Place:
    """A resource, or a template of some."""

    uri: str
    name: str
    title: str
    description: str


RESOURCES: Final = (
    Place(PROFILE, "profile", "Profile", "What always matters about the user, as a block for a prompt."),
    Place(CONFLICTS, "conflicts", "Conflicts", "What contradicts itself now, with what to ask."),
)
TEMPLATES: Final = (
    Place(TIMELINE, "timeline", "Timeline", "Every fact about an entity in order of time, by its name, URL-encoded."),
)


def text_of(desk: Desk, uri: str) -> str:
    """The text of a resource; CallRefused(no_resource) where there is none of that name."""
    if uri == PROFILE:
        return reads.profile(desk, inputs.Profile(), touch=False).text()  # a client may read it again and again
    if uri == CONFLICTS:
        return reads.conflicts(desk, inputs.Conflicts()).text()
    if uri.startswith(_TIMELINE) and (name := unquote(uri.removeprefix(_TIMELINE))):
        return reads.timeline(desk, inputs.Timeline(entity=name[:4096])).text()
    raise CallRefused("no_resource", "there is no such resource; list the resources and their templates")


def known(uri: str) -> bool:
    """Whether there is, or may be one day, a resource of that name."""
    return uri in (PROFILE, CONFLICTS) or (uri.startswith(_TIMELINE) and uri != _TIMELINE)


def digest(desk: Desk, uri: str) -> bytes:
    """What differs when the resource does; the same for as long as it can't be read."""
    try:
        found = text_of(desk, uri)
    except Exception as error:  # noqa: BLE001 - an entity that is not there yet is a state like others
        found = type(error).__name__
    return hashlib.sha256(found.encode("utf-8", "replace")).digest()


def completions(desk: Desk, begun: str) -> list[str]:
    """Names of entities that begin like this."""
    found: list[str] = []
    for entity in desk.graph.at().entities(begun[:200] or None):
        found.append(entity.label)
        if len(found) == _MOST_NAMES:
            break
    return found
