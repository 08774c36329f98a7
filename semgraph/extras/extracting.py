"""Facts out of conversations and texts with a language model: asked per episode, checked against the words, told.

The model only proposes. Each candidate must be said by a sentence of the text (`semgraph.extras.grounding`), then pass
the language gate that `remember` has; what holds when, and what ends what, is folded from the claims as ever.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import EndpointError, InputError, NotFoundError, RejectedError, SemgraphError
from semgraph.exchange.conversations import USER, Session, Turn
from semgraph.exchange.transcripts import reference_of
from semgraph.extras.episodes import MOST_WORDS, Episode, episodes_of, halves, paragraphs
from semgraph.extras.grounding import Reader
from semgraph.extras.llm import Endpoint
from semgraph.gate import check_source
from semgraph.guarding import keep_rejection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from semgraph.engine import KnowledgeGraph
    from semgraph.extras.grounding import Candidate
    from semgraph.model import Receipt
    from semgraph.temporal import Bound

    Found = list[dict[str, Any]]
    Outcome = tuple[int, Found, bool, EndpointError | None]

__all__ = ["Extraction", "Extractor", "Prices"]

_INFERRED: Final = "inferred"
_POLL: Final = 0.2  # seconds between looks at whether somebody pressed Ctrl-C


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any currency: those asked and those answered."""

    per_million_in: float
    per_million_out: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """The price of so many tokens."""
        return (tokens_in * self.per_million_in + tokens_out * self.per_million_out) / 1_000_000


@dataclass(slots=True)
class Extraction:
    """What an extraction did.

    `counts` is by outcome as in a Batch, `receipts` and `rejected` in the order of the text; `done_before` episodes
    were in the graph already, `failed` ones got no answer and are asked again by the next run; `cut` answers ended
    before they were whole, and what was whole of them was taken.
    """

    episodes: int = 0
    done_before: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    cut: int = 0
    receipts: list[Receipt] = field(default_factory=list)
    rejected: list[tuple[str, Receipt]] = field(default_factory=list)
    tokens_in: int = 0
    tokens_out: int = 0
    requests: int = 0
    uncounted: int = 0
    cost: float | None = None
    asked_as: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """How many candidates had which outcome."""
        told = Counter(receipt.outcome.value for receipt in self.receipts)
        told["rejected"] += len(self.rejected)
        return dict(sorted((+told).items()))


class Extractor:
    """Makes claims of what was said, with a model behind any OpenAI-compatible server.

    Args:
        model: the name of the model.
        base_url: the server, up to and with `/v1`; else OPENAI_BASE_URL, else OpenAI's.
        api_key: else OPENAI_API_KEY; a server of your own needs none.
        source: who is taken to have said what a sentence states in so many words. Left out, it is the model:
            `inferred:NAME`, whose confidence is capped at .60. What only follows from a sentence always is.
        concurrency: how many episodes are asked for at a time.
        most_words: the length of an episode.
        prices: what tokens cost, for the cost of a run.
        more: `retries`, `timeout` and `max_tokens`, as `semgraph.extras.llm.Endpoint` has them.

    It is a callable from a text to candidates too: `kg.remember(text, extractor=Extractor("some-model"))`.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        source: str | None = None,
        concurrency: int = 4,
        most_words: int = MOST_WORDS,
        prices: Prices | None = None,
        **more: Any,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise InputError("a model is a name, as its server calls it")
        if not isinstance(concurrency, int) or concurrency < 1:
            raise InputError(f"concurrency is a whole number from 1 on, not {concurrency!r}")
        if not isinstance(most_words, int) or most_words < 1:
            raise InputError(f"most_words is a whole number from 1 on, not {most_words!r}")
        self.endpoint = Endpoint(model, base_url, api_key, **more)
        self._inferred = f"{_INFERRED}:{model}"[:200]
        self._source = self._inferred if source is None else check_source(source)
        self._concurrency = concurrency
        self._most_words = most_words
        self._prices = prices

    def __call__(self, text: str) -> list[dict[str, Any]]:
        """The candidates that a text supports, in the words of `add`; EndpointError where the model gives no answer.

        Names are looked up in the text as they are; `extract` knows the aliases of a graph too.
        """
        from datetime import UTC, datetime

        episode = Episode("text", (Turn(USER, text, None, ""),))
        [(_, found, _, error)] = list(self._answers([episode]))
        if error is not None:
            raise error
        reader = self._reader(episode, lambda _: (), datetime.now(UTC))
        read = (reader.read(one) for one in found)
        return [{k: v for k, v in one.words.items() if k != "source_ref"} for one in read if one.code is None]

    def episodes(
        self, given: str | Iterable[Session], name: str | None = None, said_at: Bound | None = None
    ) -> list[Episode]:
        """What would be asked for one by one: of a text its parts, of sessions these, each with its turns.

        `name` goes before the names of the turns, which become the `source_ref` of claims.
        """
        if isinstance(given, str):
            return list(episodes_of([paragraphs(given, name or "text", said_at)], most_words=self._most_words))
        return list(episodes_of(given, most_words=self._most_words, prefix=f"{name}:" if name else ""))

    def extract(
        self,
        kg: KnowledgeGraph,
        given: str | Iterable[Session | Episode],
        *,
        name: str | None = None,
        said_at: Bound | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Extraction:
        """What making claims of a text, of sessions or of episodes did.

        Each episode is one transaction, in the order given. One of which the graph has claims of this source already
        is not asked again, so a run that was interrupted goes on where it was, and nothing is written twice.

        Args:
            kg: the graph.
            given: a text, sessions as `semgraph.exchange.conversations` reads them, or episodes.
            name: what the text or the file is called in `source_ref`.
            said_at: when the text was said or written, where its turns do not tell.
            progress: is called with the number of episodes done.

        Raises:
            EndpointError: the server can't be used at all; what was done before that is kept.
        """
        parts = self._parts(given, name, said_at)
        report = Extraction(episodes=len(parts))
        known = self._told(kg)
        left = [episode for episode in parts if not episode.refs & known]
        report.done_before = len(parts) - len(left)
        reference = reference_of(kg)
        try:
            for at, found, cut, error in self._answers(left):
                if error is not None:
                    report.failed.append((left[at].ref, str(error)))
                report.cut += cut
                reader = self._reader(left[at], lambda one: _called(kg, one), reference)
                with kg.atomic():
                    for candidate in map(reader.read, found):
                        self._tell(kg, candidate, left[at], report)
                if progress is not None:
                    progress(report.done_before + at + 1)
                if error is not None and error.fatal:
                    raise error
        finally:
            self._count(report)
        return report

    def _parts(
        self, given: str | Iterable[Session | Episode], name: str | None, said_at: Bound | None
    ) -> list[Episode]:
        if isinstance(given, str):
            return self.episodes(given, name, said_at)
        parts: list[Episode] = []
        for one in given:
            parts += [one] if isinstance(one, Episode) else self.episodes([one], name)
        return parts

    def _told(self, kg: KnowledgeGraph) -> set[str]:
        """The turns of which this extractor has told something, or was refused something, before."""
        voices = {self._source, self._inferred}
        told = {claim.source_ref for voice in voices for claim in kg.claims(source=voice, retracted=True)}
        refused = (one.content or {} for one in kg.rejected())
        told |= {one.get("source_ref") for one in refused if one.get("source") in voices}
        return {ref for ref in told if ref}

    def _reader(self, episode: Episode, names: Callable[[str], Iterable[str]], reference: Any) -> Reader:
        return Reader(episode, names=names, source=self._source, inferred=self._inferred, reference=reference)

    def _tell(self, kg: KnowledgeGraph, candidate: Candidate, episode: Episode, report: Extraction) -> None:
        words = dict(candidate.words)
        if candidate.code is None:
            for receipt in kg.remember(words["text"], extractor=lambda _: [words]):
                if receipt.code is None:
                    report.receipts.append(receipt)
                else:
                    report.rejected.append((words["text"], receipt))
            return
        error = RejectedError(candidate.code, candidate.reason)
        kept = {**words, "source": self._inferred, "source_ref": episode.turns[0].ref}
        keep_rejection(kg._session, error, kept)  # noqa: SLF001 - refused before there is a claim
        if error.receipt is not None:
            report.rejected.append((words.get("quote") or "", error.receipt))

    def _count(self, report: Extraction) -> None:
        usage = self.endpoint.usage
        report.requests, report.uncounted = usage.requests, usage.uncounted
        report.tokens_in, report.tokens_out = usage.tokens_in, usage.tokens_out
        report.asked_as = self.endpoint.rung
        if self._prices is not None:
            report.cost = self._prices.of(usage.tokens_in, usage.tokens_out)

    # -- asking

    def _answers(self, episodes: Sequence[Episode]) -> Iterator[Outcome]:
        """What the model found in each episode, in their order, while the next ones are being asked for.

        The asking runs in a thread of its own, so that it also works where an event loop runs already.
        """
        if not episodes:
            return
        arrived: queue.Queue[Outcome | BaseException | None] = queue.Queue()
        asking = _Asking(self.endpoint, episodes, self._concurrency, arrived.put)
        thread = threading.Thread(target=asking.run, name="semgraph-extract", daemon=True)
        thread.start()
        waiting: dict[int, Outcome] = {}
        following = 0
        try:
            while True:
                try:
                    item = arrived.get(timeout=_POLL)
                except queue.Empty:
                    continue
                if item is None:
                    return
                if isinstance(item, BaseException):
                    raise item
                waiting[item[0]] = item
                while following in waiting:
                    yield waiting.pop(following)
                    following += 1
        finally:
            asking.stop()
            thread.join()


class _Asking:
    """The requests of one run, so many at a time."""

    def __init__(
        self,
        endpoint: Endpoint,
        episodes: Sequence[Episode],
        concurrency: int,
        tell: Callable[[Outcome | BaseException | None], None],
    ) -> None:
        self._endpoint = endpoint
        self._episodes = episodes
        self._concurrency = concurrency
        self._tell = tell
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = threading.Event()

    def run(self) -> None:
        """Ask for all of them; whatever goes wrong is told."""
        try:
            asyncio.run(self._run())
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001 - it belongs to the thread that waits
            self._tell(error)
        self._tell(None)

    def stop(self) -> None:
        """Ask no more; callable from another thread."""
        self._stopped.set()
        if self._loop is not None and self._task is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)

    async def _run(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._stopped.is_set():
            return
        places = iter(range(len(self._episodes)))
        async with self._endpoint, asyncio.TaskGroup() as group:
            for _ in range(min(self._concurrency, len(self._episodes))):
                group.create_task(self._work(places))

    async def _work(self, places: Iterator[int]) -> None:
        for at in places:
            found: Found = []
            try:
                found, cut = await self._all_of(self._episodes[at])
            except EndpointError as error:
                self._tell((at, found, False, error))
                if error.fatal:
                    for _ in places:  # nobody gets an answer any more
                        pass
                continue
            self._tell((at, found, cut, None))

    async def _all_of(self, episode: Episode) -> tuple[Found, bool]:
        """What is found in an episode; one whose answer is cut off is asked for again in halves."""
        reply = await self._endpoint.ask(episode)
        parts = halves(episode) if reply.cut else None
        if parts is None:
            return reply.found.items, reply.cut
        found, cut = [], False
        for part in parts:
            inner, short = await self._all_of(part)
            found += inner
            cut = cut or short
        return found, cut


def _called(kg: KnowledgeGraph, name: str) -> list[str]:
    """The names in the graph of whatever a name means there, if it means one thing."""
    try:
        return kg.names.aliases(name)
    except (NotFoundError, SemgraphError):
        return []
