"""A connection to several servers, with the interface of ``_core.Connection``.

``hone.connect([...])`` puts it under an ordinary client, so everything that works with one server
works with several: the blocking and the asyncio client, environments, pools and adapters. A request
of an episode goes to that episode's server. A reset goes where the router says, and to another
server if that one is lost before it answers.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from hone import _core
from hone._requests import BEGIN_EPISODE, OF_ONE_SERVER
from hone._text import printable
from hone.errors import SERVER_LOST, HoneError

from .routing import Router, Server

__all__ = [
    "FleetConnection",
    "Member",
]

Failure = tuple[str, str, str, bool, float | None, str]  # as the native module gives it
Result = tuple[dict[str, Any], None] | tuple[None, Failure]

#: Time that a server may be lost before a request that others can answer goes to another one (s).
LOST_S = 1.0
#: Time between two looks at servers and waiting requests (s).
WATCH_S = 0.25
#: Time between a failed attempt to connect to a server and the next one (s).
RETRY_S = 2.0
#: Once a server has answered, time that ``connect`` waits for the others (s).
OTHERS_S = 1.0
#: Time without an answer from a server until the log has a warning (s).
WARN_S = 10.0
#: Timeout of the request that checks for a control endpoint (s).
QUESTION_S = 5.0
#: Time that a server without episodes is kept after it has left the fleet (s).
LEFT_S = 60.0
#: Episodes whose server is remembered. Of more, the first ones are forgotten.
EPISODES_MAX = 200_000

_log = logging.getLogger("hone.fleet")

Open = Callable[[str, float], _core.Connection]  #: Opens an endpoint within a time (s).


def _unavailable(message: str) -> tuple[None, Failure]:
    return None, ("unavailable", "infra", message, True, None, SERVER_LOST)


class Sent(Protocol):
    """A request that was sent to one server; ``_core.Ticket`` is one."""

    def wait(self, seconds: float = ..., or_progress: bool = ...) -> bool:
        """Waits for the answer; False if the time went by first."""

    def done(self) -> bool:
        """Whether the answer is here."""

    def cancel(self) -> None:
        """Gives the request up."""

    def progress(self) -> list[dict[str, Any]]:
        """Messages on the way."""

    def result(self) -> Result:
        """The answer, once."""


class _NotSent:
    """The result of a request whose connection was closed before."""

    def __init__(self, why: str) -> None:
        self._why = why

    def wait(self, seconds: float = -1.0, or_progress: bool = False) -> bool:
        return True

    def done(self) -> bool:
        return True

    def cancel(self) -> None:
        pass

    def progress(self) -> list[dict[str, Any]]:
        return []

    def result(self) -> Result:
        return _unavailable(self._why)


@dataclass(eq=False)
class Member:
    """One of the servers.

    Attributes:
        endpoint: Its address.
        connection: None until it has answered once.
        failure: The last failure to connect.
        load: Episodes that this client has open there, begun resets included.
        lost_at: When it was first seen not to serve (monotonic seconds); None while it serves.
        next_try: When to try to connect next (monotonic seconds); infinite during an attempt.
        fingerprint: As in its last hello.
        incarnation: As in its last hello.
        left_at: When it left the fleet (monotonic seconds); None while it is in it.
        warned: Whether the log has a warning that it does not answer.
    """

    endpoint: str
    connection: _core.Connection | None = None
    failure: Failure | None = None
    load: int = 0
    lost_at: float | None = None
    next_try: float = 0.0
    fingerprint: str = ""
    incarnation: str = ""
    left_at: float | None = None
    warned: bool = False

    @property
    def serves(self) -> bool:
        """Whether it takes new requests now."""
        return self.connection is not None and self.connection.served

    @property
    def state(self) -> str:
        """Its state for people."""
        if self.left_at is not None:
            return "left the fleet"
        if self.connection is None:
            return "not reached yet"
        return "serving" if self.serves else "not serving"

    def send(
        self,
        verb: str,
        body: Mapping[str, Any],
        timeout: float | None,
        completions: _core.Completions | None,
        tag: int,
        with_progress: bool,
    ) -> Sent:
        """Sends a request; if the connection is closed, its result says so."""
        try:
            if self.connection is None:
                raise RuntimeError("it has not answered yet")
            return self.connection.submit(verb, body, timeout, completions, tag, with_progress)
        except RuntimeError as error:
            return _NotSent(f"{self.endpoint}: {error}")

    def view(self) -> Server:
        """This server for the router."""
        left = self.left_at is not None
        return Server(self.endpoint, self.load, self.serves and not left, self.fingerprint, left)

    def read_hello(self) -> None:
        """Notes what the server said when this client connected last."""
        hello = None if self.connection is None else self.connection.hello()
        if hello is not None:
            self.fingerprint = str(hello.get("fingerprint") or "")
            self.incarnation = str(hello.get("incarnation") or "")


class Place:
    """An episode's share of a server's load, given back once."""

    def __init__(self, member: Member, lock: threading.RLock) -> None:
        self.member = member
        self._lock = lock
        self._held = True
        with lock:
            member.load += 1

    def give_back(self) -> None:
        """Ends the share."""
        with self._lock:
            self.member.load -= self._held
            self._held = False


@dataclass(eq=False)
class Call:
    """A request, and the servers that may still answer it.

    Attributes:
        submit: Sends it to a server.
        rest: The servers to try next, the best first.
        others: Codes of failures after which the next server is tried.
        settle: Reads the final result with the server that gave it, and may replace it.
        take_place: Counts an episode that a server is asked to begin; None for other requests.
    """

    submit: Callable[[Member], Sent]
    rest: list[Member]
    others: tuple[str, ...]
    settle: Callable[[Member, Result], Result]
    take_place: Callable[[Member], Place] | None = None


class Ticket:
    """A request that one of several servers answers; the interface of ``_core.Ticket``."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._lock = threading.RLock()
        self._result: Result | None = None
        self._failed: Result | None = None  # of a server that was tried before
        self._cancelled = False
        self._begin()

    @property
    def member(self) -> Member:
        """The server that has the request now."""
        return self._member

    def _begin(self) -> None:
        self._member = self._call.rest.pop(0)
        self._place: Place | None = None
        if self._call.take_place is not None:
            self._place = self._call.take_place(self._member)
            weakref.finalize(self, self._place.give_back)  # a caller may drop the ticket
        self._inner = self._call.submit(self._member)

    def done(self) -> bool:
        """Whether the result is here. After a failure of this server, asks the next one."""
        with self._lock:
            if self._result is not None:
                return True
            if not self._inner.done():
                return False
            result = self._inner.result()
            failure = result[1]
            if failure is not None and failure[0] in self._call.others and self._next(result):
                return self.done()
            if failure is not None and self._failed is not None and failure[0] == "not_found":
                result = self._failed  # the server that could not be reached may have it
            self._end(result)
            return True

    def look(self) -> None:
        """Goes to the next server if this one is lost. The watching thread calls it."""
        with self._lock:
            lost = self._member.lost_at
            if self._result is not None or self._inner.done() or lost is None or self._cancelled:
                return
            if time.monotonic() - lost < LOST_S or not any(one.serves for one in self._call.rest):
                return
            self._inner.cancel()
            # It may have answered in this moment.
            result = self._inner.result() if self._inner.done() else None
            if result is not None and result[0] is not None:
                self._end(result)
            else:
                self._next(_unavailable(f"{self._member.endpoint} was lost"))

    def _end(self, result: Result) -> None:
        self._result = self._call.settle(self._member, result)
        self._give_back()

    def _next(self, result: Result) -> bool:
        if result[1] is not None and result[1][0] == "unavailable":
            self._failed = result
        if self._cancelled or not self._call.rest:
            return False
        self._call.rest.sort(key=lambda one: not one.serves)  # stable: the best first among each
        self._give_back()
        self._begin()
        return True

    def _give_back(self) -> None:
        if self._place is not None:
            self._place.give_back()

    def wait(self, seconds: float = -1.0, or_progress: bool = False) -> bool:
        """Waits for the result, or for progress; False if the time went by first."""
        if self._result is not None:
            return True
        if not self._call.others:
            return self._inner.wait(seconds, or_progress) and (or_progress or self.done())
        end = None if seconds < 0 else time.monotonic() + seconds
        while not self.done():
            left = WATCH_S if end is None else min(WATCH_S, end - time.monotonic())
            if left <= 0:
                return False
            if self._inner.wait(left, or_progress) and or_progress and not self._inner.done():
                return True
        return True

    def cancel(self) -> None:
        """Gives the request up: the server that has it cancels it, and no other one is asked."""
        with self._lock:
            self._cancelled = True
            self._inner.cancel()

    def progress(self) -> list[dict[str, Any]]:
        """Messages on the way, once each."""
        return self._inner.progress()

    def result(self) -> Result:
        """The body, or the failure of the last server that was asked."""
        self.wait()
        assert self._result is not None
        return self._result


class HomeTicket:
    """A request of an episode to its server, which alone can answer it.

    Most requests of a client are steps, so this adds little to the ``_core.Ticket``.
    """

    __slots__ = ("_inner", "_result", "_settle")

    def __init__(self, inner: Sent, settle: Callable[[Result], Result] | None) -> None:
        self._inner = inner
        self._settle = settle
        self._result: Result | None = None

    def wait(self, seconds: float = -1.0, or_progress: bool = False) -> bool:
        """Waits for the result, or for progress; False if the time went by first."""
        return self._result is not None or self._inner.wait(seconds, or_progress)

    def done(self) -> bool:
        """Whether the result is here."""
        return self._result is not None or self._inner.done()

    def cancel(self) -> None:
        """Gives the request up."""
        self._inner.cancel()

    def progress(self) -> list[dict[str, Any]]:
        """Messages on the way, once each."""
        return self._inner.progress()

    def result(self) -> Result:
        """The body, or the failure."""
        if self._result is None:
            result = self._inner.result()
            self._result = result if self._settle is None else self._settle(result)
        return self._result


class FleetConnection:
    """Connections to several servers.

    Args:
        endpoints: Their addresses, each once. A server's control endpoint is left out with a
            warning if its main endpoint is among them; otherwise it is a failure.
        open_endpoint: Opens a connection.
        connect_timeout: Seconds to wait for the first server.
        router: Chooses servers.
        find: Returns the current endpoints, and whether these are all; None if they never change.
            Called in a thread.
        clean_up: Called once, when this connection is closed.
    """

    def __init__(
        self,
        endpoints: Sequence[str],
        open_endpoint: Open,
        connect_timeout: float,
        router: Router | None = None,
        find: Callable[[], tuple[Iterable[str], bool]] | None = None,
        clean_up: Callable[[], None] = lambda: None,
    ) -> None:
        self.failure: Failure | None = None
        self._open = open_endpoint
        self._connect_timeout = connect_timeout
        self._router = router or Router()
        self._find = find
        self._clean_up = clean_up
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._members: list[Member] = [Member(one) for one in endpoints]
        self._controls: list[tuple[Member, str]] = []  # with the refusal of each
        self._homes: OrderedDict[str, Place] = OrderedDict()  # of each episode
        self._tickets: weakref.WeakSet[Ticket] = weakref.WeakSet()
        self._closed = threading.Event()
        for member in self._members:
            self._start_to_connect(member)
        self._wait_for_members()
        if self.failure is None:
            watch = partial(_watch, weakref.ref(self), self._closed)
            threading.Thread(target=watch, name="hone-fleet", daemon=True).start()

    def __repr__(self) -> str:
        shown = ", ".join(f"{one.endpoint} ({one.state})" for one in self.members())
        return ("closed " if self.closed else "") + f"connection to {shown}"

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed.is_set()

    def members(self) -> list[Member]:
        """The servers, in the order in which they were given."""
        with self._lock:
            return list(self._members)

    def home(self, episode: str) -> Member | None:
        """The server of an episode that this client began or resumed."""
        with self._lock:
            place = self._homes.get(episode)
            return None if place is None else place.member

    def hello(self) -> dict[str, Any] | None:
        """The hello of the first server that serves, or of one that did."""
        if self.closed:
            return None
        for member in self._reached():
            if member.connection is not None:
                return member.connection.hello()
        return None

    def submit(
        self,
        verb: str,
        body: Mapping[str, Any],
        timeout: float | None = None,
        completions: _core.Completions | None = None,
        tag: int = 0,
        with_progress: bool = False,
    ) -> _core.Ticket:
        """Sends a request to the server of its episode, or to one that the router chooses.

        A tag may come more than once, also before the ticket is done: ask the ticket.
        """
        if self.closed:
            raise RuntimeError("the client is closed")
        place = self._homes.get(str(body.get("episode", "")))
        if place is not None and verb not in ("resume", "branch"):
            if verb == "close":
                place.give_back()
            sent = place.member.send(verb, body, timeout, completions, tag, with_progress)
            after = partial(self._after_step, place) if verb == "step" else None
            return HomeTicket(sent, after)  # type: ignore[return-value]  # the same interface
        end = time.monotonic() + timeout if timeout else None

        def send(member: Member) -> Sent:
            left = timeout if end is None else max(0.001, end - time.monotonic())
            return member.send(verb, body, left, completions, tag, with_progress)

        group = str(body["group"]) if verb in BEGIN_EPISODE and body.get("group") else None
        settle = partial(self._settle, verb, str(body.get("episode", "")), group)
        rest, others = self._candidates(verb, body, group)
        begins = verb in BEGIN_EPISODE
        call = Call(send, rest, others, settle, partial(Place, lock=self._lock) if begins else None)
        ticket = Ticket(call)
        with self._lock:
            self._tickets.add(ticket)
        return ticket  # type: ignore[return-value]  # the same interface

    def close(self) -> None:
        """Closes all connections. May be called twice."""
        with self._lock:
            if self._closed.is_set():
                return
            self._closed.set()
            open_ones = [one.connection for one in self._members if one.connection is not None]
        for connection in open_ones:
            connection.close()
        self._clean_up()

    def set_endpoints(self, endpoints: Iterable[str], are_all: bool = True) -> None:
        """Adds new servers. Servers that are gone get no new episodes, but keep their own.

        Args:
            endpoints: The servers of the fleet.
            are_all: Whether a server that is not among them has left the fleet.
        """
        given = list(endpoints)
        with self._lock:
            known = {member.endpoint for member in self._members}
            self._members += [Member(endpoint) for endpoint in given if endpoint not in known]
            busy = {ticket.member for ticket in self._tickets if ticket._result is None}
            for member in list(self._members):
                if member.endpoint in given:
                    member.left_at = None
                if member.endpoint in given or (not are_all and member.left_at is None):
                    continue
                member.left_at = member.left_at or time.monotonic()
                old = time.monotonic() - member.left_at >= LEFT_S
                if old and member.load == 0 and member not in busy:
                    self._members.remove(member)
                    if member.connection is not None:
                        member.connection.close()

    def _reached(self) -> list[Member]:
        """The servers that have answered once, those that serve now first."""
        reached = [member for member in self.members() if member.connection is not None]
        return sorted(reached, key=lambda one: not one.serves)

    def _candidates(
        self, verb: str, body: Mapping[str, Any], group: str | None
    ) -> tuple[list[Member], tuple[str, ...]]:
        """The servers to ask, the best first, and the failures that lead to the next one."""
        episode = str(body.get("episode", ""))
        home = self.home(episode)
        if home is not None and verb == "branch":
            return [home], ()
        reached = self._reached()
        if verb == "resume":
            reached.sort(key=lambda one: one is not home)  # stable
            return reached, ("unavailable", "not_found")
        if episode:
            raise RuntimeError(f"this client did not begin episode {episode}; resume it")
        if verb in OF_ONE_SERVER:
            names = ", ".join(member.endpoint for member in self.members())
            raise RuntimeError(f"{verb}: each server has its own; connect to one: {names}")
        if verb != "reset":
            return reached, ("unavailable",)
        by_endpoint = {member.endpoint: member for member in reached}
        # Without the lock: on Ray, the router asks another process.
        chosen = self._router.order(group, [member.view() for member in reached])
        members = [by_endpoint[endpoint] for endpoint in chosen if endpoint in by_endpoint]
        if not members:
            raise RuntimeError(
                f"found no server for group {group!r}: the other servers have another "
                "fingerprint, so speedups within the group would not be comparable"
                if group
                else "found no server that has answered"
            )
        return members, ("unavailable",)

    def _settle(
        self, verb: str, episode: str, group: str | None, member: Member, result: Result
    ) -> Result:
        """Learns from an answer where an episode is, or that it has ended."""
        answer, failure = result
        with self._lock:
            if verb in BEGIN_EPISODE and answer is not None:
                self._keep(str(answer["episode"]), Place(member, self._lock))
                if group is not None:
                    self._router.placed(group, member.view())
            elif verb == "resume" and answer is not None:
                if self.home(episode) is not member:
                    self._keep(episode, Place(member, self._lock))
            elif verb == "resume" and failure is not None and failure[0] == "not_found":
                unseen = [one.endpoint for one in self._members if one.connection is None]
                if unseen:
                    said = f"{failure[2]}; not reached yet: {', '.join(unseen)}"
                    return _unavailable(said)
        return result

    @staticmethod
    def _after_step(place: Place, result: Result) -> Result:
        """Gives back the place of an episode that a step has ended, or that its server lost."""
        answer, failure = result
        lost = failure is not None and (
            failure[0] == "not_found" or (failure[0] == "unavailable" and not failure[3])
        )
        if lost or (answer is not None and (answer.get("terminated") or answer.get("truncated"))):
            place.give_back()
        return result

    def _keep(self, episode: str, place: Place) -> None:
        former = self._homes.pop(episode, None)
        if former is not None:
            former.give_back()
        self._homes[episode] = place
        while len(self._homes) > EPISODES_MAX:
            _, oldest = self._homes.popitem(last=False)
            oldest.give_back()

    def _start_to_connect(self, member: Member) -> None:
        member.next_try = float("inf")
        threading.Thread(
            target=self._connect, args=(member,), name="hone-fleet-connect", daemon=True
        ).start()

    def _connect(self, member: Member) -> None:
        connection: _core.Connection | None = None
        refusal: str | None = None
        try:
            connection = self._open(member.endpoint, self._connect_timeout)
            failure: Failure | None = connection.failure
            if (
                failure is None and self._find is None
            ):  # a list by hand; Ray has main endpoints only
                refusal = _refusal_of_control(member.endpoint, connection)
        except Exception as error:
            failure = ("internal", "infra", f"{member.endpoint}: {error}", False, None, "")
        with self._lock:
            member.failure = failure
            member.next_try = time.monotonic() + RETRY_S
            if failure is None and not self.closed:
                member.connection = connection
                member.read_hello()
                if refusal is None:
                    self._drop_double(member)
                else:
                    self._members.remove(member)
                    self._controls.append((member, refusal))
            self._changed.notify_all()
        if connection is not None and (self.closed or refusal is not None):
            connection.close()

    def _drop_double(self, member: Member) -> None:
        """Drops this member if another address has reached the same server."""
        for other in self._members:
            if other is not member and other.incarnation == member.incarnation and other.serves:
                self._members.remove(member)
                assert member.connection is not None
                member.connection.close()
                return

    def _wait_for_members(self) -> None:
        """Waits for the first server, and then OTHERS_S for the others."""
        end = time.monotonic() + self._connect_timeout + OTHERS_S
        with self._lock:
            while any(member.next_try == float("inf") for member in self._members):
                if any(member.connection is not None for member in self._members):
                    end = min(end, time.monotonic() + OTHERS_S)
                left = end - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    break
            failures = [one.failure for one in self._members if one.failure is not None]
            # An address or a key that can never work is an error, though other servers answer.
            self.failure = next((one for one in failures if not one[3]), None)
            if self.failure is None:
                self.failure = self._judge_controls(connecting=True)
            if self.failure is None and all(one.connection is None for one in self._members):
                said = "; ".join(one[2] for one in failures) or "no server answered"
                self.failure = _unavailable(said)[1]
        if self.failure is not None:
            self.close()

    def _judge_controls(self, connecting: bool) -> Failure | None:
        """Warns about control endpoints; in ``connect``, one without its main one is a failure."""
        controls, self._controls = self._controls, []
        for member, refusal in controls:
            said = (
                f"endpoint: {member.endpoint} is the control endpoint of a server, expected its "
                f"main endpoint; the server said: {printable(refusal)}"
            )
            if connecting and all(one.incarnation != member.incarnation for one in self._members):
                return "invalid_argument", "protocol", said, False, None, ""
            _log.warning("%s; it is left out", said)
        return None

    def _look(self) -> None:
        """Notes which servers are lost, connects to new ones, moves requests on."""
        now = time.monotonic()
        with self._lock:
            members, tickets = list(self._members), list(self._tickets)
            self._judge_controls(connecting=False)
        for member in members:
            if member.serves:
                if member.lost_at is not None:
                    member.read_hello()  # another start of the server may have other hardware
                member.lost_at = None
                if member.warned:
                    _log.info("server %s answers now", member.endpoint)
                member.warned = False
            elif member.lost_at is None:
                member.lost_at = now
            elif not member.warned and member.left_at is None and now - member.lost_at >= WARN_S:
                member.warned = True
                why = "" if member.failure is None else f": {printable(member.failure[2])}"
                _log.warning(
                    "server %s has not answered for %.0f s; new episodes go to other servers%s",
                    member.endpoint,
                    now - member.lost_at,
                    why,
                )
            if member.connection is None and member.next_try <= now:
                self._start_to_connect(member)
        for ticket in tickets:
            ticket.look()


def _refusal_of_control(endpoint: str, connection: _core.Connection) -> str | None:
    """The server's refusal if this is its control endpoint; else None.

    The hello of both endpoints is the same. Only the main endpoint answers ``describe``; the
    unknown environment keeps the answer short. Addresses with another port than the control
    endpoint are not asked, so that a busy server has no additional request.
    """
    hello = connection.hello()
    control = str((hello or {}).get("control") or "")
    if control.rpartition(":")[2] != endpoint.rpartition(":")[2]:
        return None
    _, failure = connection.submit("describe", {"environment": "none"}, QUESTION_S).result()
    return failure[2] if failure is not None and failure[0] == "failed_precondition" else None


def _watch(of: weakref.ref[FleetConnection], closed: threading.Event) -> None:
    """Looks after a connection until it is closed or dropped."""
    next_find = time.monotonic() + RETRY_S
    while not closed.wait(WATCH_S):
        connection = of()
        if connection is None:
            return
        if connection._find is not None and time.monotonic() >= next_find:
            try:
                connection.set_endpoints(*connection._find())
            except HoneError as error:  # the known servers remain
                _log.warning("cannot ask for the fleet's servers: %s", printable(error))
            next_find = time.monotonic() + RETRY_S
        connection._look()
        del connection
