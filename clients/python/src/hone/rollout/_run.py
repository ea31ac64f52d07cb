"""A rollout as a whole: samples in a queue, as many under way as asked for, traces as it goes."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from typing import Any, TextIO

from hone import aio
from hone.errors import HoneError, InvalidArgument

from ._attempt import Attempt, Book, name_of
from ._choose import choose
from ._ledger import Event, Ledger
from ._model import Model, ModelError
from ._play import Player
from ._progress import Progress
from ._settings import Settings, UsageError
from ._summary import summary
from ._traces import hone_trace, kept, lines_of, seed_trace, write_whole

#: A rollout ends after this number of consecutive samples that could not go on.
FAILURES_MAX = 8


class RunFailed(RuntimeError):  # noqa: N818 - what it is for the caller
    """The endpoint or the server is of no use; what was played is kept, and can be gone on with."""


async def run(settings: Settings, *, show: TextIO | None = None) -> dict[str, Any]:
    """Plays what is not played yet, and writes the traces.

    Args:
        settings: What to play, with whom, and where to write.
        show: Where progress is shown.

    Returns:
        The summary, as ``--json`` prints it.

    Raises:
        UsageError: What was asked cannot be done.
        RunFailed: The endpoint or the server failed; the same call goes on.
    """
    began = time.monotonic()
    with Ledger(settings.sibling("ledger.jsonl"), settings.identity()) as ledger:
        try:
            client = await aio.connect(
                settings.endpoint, key=settings.key, server_key=settings.server_key
            )
        except HoneError as error:
            raise RunFailed(f"{settings.endpoint}: {error}") from error
        async with client:
            rollout = await _Rollout.open(settings, client, ledger, show)
            try:
                await rollout.play()
            finally:
                rollout.save()
                rollout.progress.close()
    totals = summary(settings, rollout.book.counted(), rollout.book.every())
    totals["kept"] = len(kept(rollout.book.counted(), settings.min_speedup))
    totals["retries"] = rollout.progress.retries
    totals["seconds"] = time.monotonic() - began
    names = ("hone.jsonl", "sft.jsonl", "ledger.jsonl")
    totals["files"] = [str(settings.output), *(str(settings.sibling(name)) for name in names)]
    return totals


class _Rollout:
    """One run of it."""

    def __init__(
        self,
        settings: Settings,
        client: aio.Client,
        ledger: Ledger,
        book: Book,
        progress: Progress,
        described: dict[str, Any],
    ) -> None:
        self._settings = settings
        self._client = client
        self._ledger = ledger
        self._described = described
        self._in_a_row = 0
        self._begun = any(one.start for one in book.every())
        self._refused: dict[str, str] = {}  # messages by sample, not yet shown
        self.book = book
        self.progress = progress
        self._queue = deque(self._left())

    @classmethod
    async def open(
        cls, settings: Settings, client: aio.Client, ledger: Ledger, show: TextIO | None
    ) -> _Rollout:
        """Asks the server what it has, and the ledger what was done."""
        tasks = choose(settings, await client.tasks())
        samples = [(task, sample) for task in tasks for sample in range(settings.samples)]
        book = Book(settings, samples)
        book.read(ledger.past)
        progress = Progress(settings, len(samples), show)
        described = (await client.describe()).get("environment") or {}
        return cls(settings, client, ledger, book, progress, described)

    async def play(self) -> None:
        """Until the queue is empty.

        Raises:
            UsageError: The server refused the reset of every sample.
        """
        if not self._queue:
            return
        async with Model(self._settings, self.progress.retried) as model:
            try:
                await model.find_name()
            except ModelError as error:
                raise RunFailed(str(error)) from error
            player = Player(self._settings, self._client, model, self._record)
            count = min(self._settings.batch_size, len(self._queue))
            workers = [asyncio.create_task(self._work(player)) for _ in range(count)]
            try:
                await asyncio.gather(*workers)
                if self._refused and not self._begun:
                    raise UsageError(self._refused[min(self._refused)])
            finally:
                self._show_refused()
                for worker in workers:
                    worker.cancel()
                await asyncio.gather(*workers, return_exceptions=True)

    def save(self) -> None:
        """Writes all files of traces."""
        counted = [one for one in self.book.counted() if one.reason is not None]
        traces = [seed_trace(one, self._settings.samples) for one in counted]
        write_whole(self._settings.output, _json(traces))
        name = str(self._described.get("name") or "")
        reward = self._reward()
        rows = [hone_trace(one, name, reward) for one in self.book.every() if one.reason]
        write_whole(self._settings.sibling("hone.jsonl"), lines_of(rows))
        filtered = kept(counted, self._settings.min_speedup)
        write_whole(self._settings.sibling("sft.jsonl"), lines_of(filtered))

    def _reward(self) -> dict[str, Any]:
        """Of the episodes: the options', else the server's."""
        options = {**(self._described.get("options") or {}), **self._settings.options}
        config = options.get("reward_config") or {}
        return {"name": options.get("reward"), "version": "", "config": config, "config_hash": ""}

    def _left(self) -> list[Attempt]:
        """The samples that are still to be played, in order."""
        left = []
        for attempt in self.book.latest():
            for said in attempt.answers:
                self.progress.answered(said)
            if attempt.reason is None:
                left.append(attempt)
            elif self._deserves_another(attempt):
                left.append(self.book.again(attempt))
            else:
                self.progress.counted(attempt, before=True)
        return left

    def _deserves_another(self, attempt: Attempt) -> bool:
        """A wholly failed sample is queued once more."""
        if self._settings.once:
            return False
        return attempt.failed_wholly and attempt.number == 1 and not attempt.refusal

    def _record(self, attempt: Attempt, event: Event) -> None:
        """On the disk first, then in memory."""
        self._ledger.append(event)
        attempt.take(event)
        self._begun = self._begun or event["event"] == "start"
        if event["event"] == "answer":
            self.progress.answered(event["answer"])

    async def _work(self, player: Player) -> None:
        while self._queue:
            attempt = self._queue.popleft()
            try:
                await player.play(attempt)
            except ModelError as error:
                self._unanswered(attempt, error)
            except HoneError as error:
                if isinstance(error, InvalidArgument) and not attempt.start:
                    self._refused[attempt.key] = str(error)
                    self._show_refused()
                else:
                    self._stuck(attempt, str(error))
            if attempt.reason is not None:
                self._over(attempt)

    def _unanswered(self, attempt: Attempt, error: ModelError) -> None:
        """A conversation that the endpoint refuses is over; where it took none, it is of no use."""
        if error.hopeless or (error.refused and not any(one.answers for one in self.book.every())):
            raise RunFailed(str(error)) from error
        if error.refused:
            said = {"event": "refused", **name_of(attempt), "message": str(error)}
            self._record(attempt, said)
        else:
            self._stuck(attempt, str(error))

    def _show_refused(self) -> None:
        """Shows refusals once a sample has begun. If none begins, ``play`` raises one error."""
        if self._begun:
            for key, message in self._refused.items():
                self.progress.failure(f"{key}: {message}")
            self._refused.clear()

    def _stuck(self, attempt: Attempt, message: str) -> None:
        self._in_a_row += 1
        self.progress.failure(f"{attempt.key}: {message}")
        if self._in_a_row >= FAILURES_MAX:
            raise RunFailed(f"{self._in_a_row} samples in a row could not go on; last: {message}")

    def _over(self, attempt: Attempt) -> None:
        self._in_a_row = 0
        if self._deserves_another(attempt):
            self._queue.append(self.book.again(attempt))
            return
        self.progress.counted(attempt)
        if (self.progress.done - self.progress.before) % self._settings.save_interval == 0:
            self.save()
            self.progress.milestone()


def _json(traces: list[dict[str, Any]]) -> str:
    return json.dumps(traces, ensure_ascii=False, indent=2) + "\n"
