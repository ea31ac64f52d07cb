"""Several servers behind one client."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import hone
import hone.aio
import pytest
from hone.adapters._play import AsyncPlay, Play, Settings, client_of, loop_client_of
from hone.fleet import Router, Server, ranking
from hone.fleet.connection import FleetConnection
from hone.pool import Pool

from conftest import ROOT, RealServer
from scripted import ScriptedServer
from servers import free_port, wait_until

FAST = (ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp").read_text()
NAMES = [f"tcp://node{i}:5917" for i in range(8)]


def servers_of(loads: dict[str, int], **others: object) -> list[Server]:
    return [Server(name, load, **others) for name, load in loads.items()]  # type: ignore[arg-type]


def test_a_ranking_without_one_server_keeps_the_order_of_the_others() -> None:
    for key in map(str, range(50)):
        ranked = ranking(key, NAMES)
        assert sorted(ranked) == sorted(NAMES)
        assert ranking(key, [name for name in reversed(NAMES) if name != NAMES[3]]) == [
            name for name in ranked if name != NAMES[3]
        ]


def test_clients_that_do_not_know_each_other_agree_on_the_server_of_a_group() -> None:
    for group in map(str, range(50)):
        firsts = {Router().order(group, servers_of(dict.fromkeys(NAMES, busy)))[0] for busy in (0, 3, 7)}
        assert len(firsts) == 1


def test_a_client_with_many_groups_spreads_them_evenly() -> None:
    router, loads = Router(), dict.fromkeys(NAMES, 0)
    for group in range(1000):
        for _ in range(8):
            loads[router.order(f"group-{group}", servers_of(loads))[0]] += 1
    assert max(loads.values()) <= 1.12 * 8000 / len(NAMES)


def test_a_client_with_as_many_groups_as_servers_uses_most_of_them() -> None:
    used = []
    for trial in range(100):
        router, loads = Router(), dict.fromkeys(NAMES, 0)
        for group in range(len(NAMES)):
            for _ in range(8):
                loads[router.order(f"{trial}-{group}", servers_of(loads))[0]] += 1
        used.append(sum(load > 0 for load in loads.values()))
    assert sum(used) / len(used) > 7


def test_a_group_stays_where_it_is_and_moves_only_to_a_server_of_its_kind() -> None:
    router = Router()
    kinds = [Server(name, fingerprint="H100" if index % 2 else "H200") for index, name in enumerate(NAMES)]
    first = router.order("g", kinds)[0]
    kind = next(one.fingerprint for one in kinds if one.endpoint == first)
    full = [Server(one.endpoint, 1000 * (one.endpoint == first), True, one.fingerprint) for one in kinds]
    assert router.order("g", full)[0] == first
    gone = [Server(one.endpoint, 0, one.endpoint != first, one.fingerprint) for one in kinds]
    moved = router.order("g", gone)
    assert (len(moved), moved[-1]) == (4, first), "the lost server is the last choice"
    assert all(one.fingerprint == kind for one in kinds if one.endpoint in moved)
    others = [Server(one.endpoint, 0, one.fingerprint != kind, one.fingerprint) for one in kinds]
    waits = router.order("g", others)
    assert waits[0] == first, "the request waits for the group's own server"
    assert len(waits) == 4


def kinds_of(**others: object) -> list[Server]:
    """Four servers of two kinds."""
    return [Server(name, fingerprint="H100" if index % 2 else "H200", **others) for index, name in enumerate(NAMES[:4])]  # type: ignore[arg-type]


def test_clients_that_do_not_know_each_other_agree_on_the_kind_of_a_group() -> None:
    servers = kinds_of()
    kind = {one.endpoint: one.fingerprint for one in servers}
    kinds, moved = collections.Counter[str](), 0
    for group in map(str, range(200)):
        first = Router().order(group, servers)[0]
        # Another client has many episodes on this server, or cannot reach it, or both servers of the kind.
        busy = [replace(one, load=12 * (one.endpoint == first)) for one in servers]
        lost = [replace(one, serves=one.endpoint != first) for one in servers]
        both = [replace(one, serves=kind[one.endpoint] != kind[first]) for one in servers]
        chosen = [Router().order(group, seen)[0] for seen in (busy, lost, both)]
        assert [kind[one] for one in chosen] == [kind[first]] * 3
        moved += sum(one != first for one in chosen[:2])
        kinds[kind[first]] += 1
    assert moved == 400, "the bound holds among the servers of a kind"
    assert min(kinds.values()) > 60, "both kinds get groups"


def test_the_bound_counts_the_servers_of_the_kind_only() -> None:
    """Otherwise busy servers of another kind would keep a group on a full server."""
    for group in map(str, range(50)):
        first = Router().order(group, kinds_of())[0]
        kind = next(one.fingerprint for one in kinds_of() if one.endpoint == first)
        seen = [
            replace(one, load=1000 if one.fingerprint != kind else 100 * (one.endpoint == first)) for one in kinds_of()
        ]
        assert Router().order(group, seen)[0] != first


def test_a_server_that_has_left_gives_no_group_its_kind() -> None:
    for group in map(str, range(50)):
        first = Router().order(group, kinds_of())[0]
        kind = next(one.fingerprint for one in kinds_of() if one.endpoint == first)
        left = [replace(one, left=one.fingerprint == kind, serves=one.fingerprint != kind) for one in kinds_of()]
        order = Router().order(group, left)
        assert len(order) == 2
        assert all(one.fingerprint != kind for one in left if one.endpoint in order)


def test_an_episode_without_a_group_goes_to_the_least_load() -> None:
    router, loads = Router(), {name: index for index, name in enumerate(NAMES)}
    assert router.order(None, servers_of(loads))[:3] == NAMES[:3]
    drawn = {router.order(None, servers_of(dict.fromkeys(NAMES, 1)))[0] for _ in range(200)}
    assert drawn == set(NAMES), "servers of equal load are drawn"


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RealServer]]:
    folder = tmp_path_factory.mktemp("fleet")
    both = [RealServer(folder / f"{name}.log") for name in ("a", "b")]
    yield both
    for one in both:
        one.stop()


def endpoints_of(servers: list[RealServer]) -> list[str]:
    return [one.endpoint for one in servers]


def fleet_of(client: Any) -> FleetConnection:
    """The connection of a client, once it has reached all its servers."""
    connection = client._connection
    assert isinstance(connection, FleetConnection)
    wait_until(lambda: all(one.serves for one in connection.members()))
    return connection


def home_of(client: Any, episode: Any) -> str:
    home = client._connection.home(episode.id)
    assert home is not None
    return str(home.endpoint)


def open_on(server: RealServer) -> int:
    with hone.connect(server.endpoint) as client:
        return int(client.metrics()["service"]["episodes"]["open"])


@pytest.mark.real
def test_groups_stay_together_and_episodes_spread(two: list[RealServer]) -> None:
    with hone.connect(endpoints_of(two)) as client:
        fleet = fleet_of(client)
        groups = [[client.reset("add_relu", group=f"g{g}").episode for _ in range(4)] for g in range(6)]
        assert all(len({home_of(client, one) for one in group}) == 1 for group in groups)
        free = [client.reset("add_relu").episode for _ in range(24)]
        assert [open_on(one) for one in two] == [24, 24]
        episode = groups[0][0]
        assert episode.step(FAST).info["verdict"]["outcome"] == "correct"
        twin = episode.branch(group="h").episode
        mate = client.reset("add_relu", group="h").episode
        assert home_of(client, twin) == home_of(client, mate) == home_of(client, episode)
        for one in [twin, mate, *free, *(one for group in groups for one in group)]:
            one.close()
        assert [open_on(one) for one in two] == [0, 0]
        assert [member.load for member in fleet.members()] == [0, 0]
        assert client.tasks()
        assert client.ping()
        with pytest.raises(hone.FailedPrecondition, match="metrics: each server has its own; connect to one: tcp://"):
            client.metrics()
        with pytest.raises(hone.FailedPrecondition, match="did not begin episode"):
            client.step(hone.EpisodeState("00", "00"), FAST)


@pytest.mark.real
def test_an_episode_is_resumed_by_a_client_that_does_not_know_its_server(two: list[RealServer]) -> None:
    with hone.connect(endpoints_of(two)) as first:
        started = [first.reset("add_relu").episode for _ in range(4)]
    with hone.connect(endpoints_of(two)) as second:
        fleet_of(second)
        for one in started:
            second.resume(one.id, one.token).episode.close()
        with pytest.raises(hone.NotFound):
            second.resume(started[0].id[:-1] + "f", started[0].token)
    dead = f"tcp://127.0.0.1:{free_port()}"
    with (
        hone.connect([two[0].endpoint, dead]) as third,
        pytest.raises(hone.Unavailable, match=f"not reached yet: {dead}"),
    ):
        third.resume(started[0].id[:-1] + "f", started[0].token)


@pytest.mark.real
def test_asyncio_clients_and_pools_use_all_servers(two: list[RealServer]) -> None:
    async def play() -> list[str]:
        async with hone.aio.connect(endpoints_of(two)) as client:
            await asyncio.to_thread(fleet_of, client)
            starts = await asyncio.gather(*(client.reset("add_relu") for _ in range(8)))
            used = [member.load for member in fleet_of(client).members()]
            results = await asyncio.gather(*(start.episode.step(FAST) for start in starts[:2]))
            await asyncio.gather(*(start.episode.close() for start in starts))
            assert used == [4, 4]
            return [result.info["verdict"]["outcome"] for result in results]

    assert asyncio.run(play()) == ["correct", "correct"]
    with hone.connect(endpoints_of(two)) as client:
        fleet_of(client)
        pool = Pool(client, 4, batch_size=4, task="add_relu", seed=1)
        pool.async_reset()
        seen = pool.recv()
        assert [open_on(one) for one in two] == [2, 2]
        pool.send([{"code": "no kernel"}] * 4, seen.info["env_id"])
        assert all(pool.recv().info["reward_valid"])
        pool.close()


class TrainersList(collections.UserList[str]):
    """A list that cannot be hashed and is no ``list``, as of OmegaConf."""


@pytest.mark.real
@pytest.mark.parametrize("kind", [list, tuple, TrainersList])
def test_adapters_play_on_the_servers_of_a_list(two: list[RealServer], kind: Any) -> None:
    settings = Settings.of({"endpoint": kind(endpoints_of(two)), "options": {"max_turns": 1}})
    assert client_of(settings) is client_of(Settings(endpoints_of(two)))
    fleet_of(client_of(settings))
    plays = [Play(settings) for _ in range(4)]
    for one in plays:
        assert one.start("add_relu")
    assert [open_on(one) for one in two] == [2, 2]
    assert plays[0].step(FAST)
    assert [one.finish().outcomes for one in plays] == [["correct"], [], [], []]

    async def play() -> list[str]:
        one = AsyncPlay(settings)
        await one.start("add_relu", group="g")
        await one.step(FAST)
        return (await one.finish()).outcomes

    assert asyncio.run(play()) == ["correct"]


def settings_of(servers: list[ScriptedServer], **more: Any) -> Settings:
    return Settings([one.endpoint for one in servers], reconnect_timeout=2.0, **more)


def home_and_other(servers: list[ScriptedServer]) -> list[ScriptedServer]:
    return sorted(servers, key=lambda one: not one.open())


def test_a_lost_episode_begins_again_on_another_server(scripted_pair: list[ScriptedServer]) -> None:
    settings = settings_of(scripted_pair)
    fleet_of(client_of(settings))
    play = Play(settings)
    prompt = play.start(seed=7, group="g")
    task = play.record.task
    home, other = home_and_other(scripted_pair)
    home.stop()
    assert play.step("slow") == []
    assert (play.may_retry, play.record.details()["reward_valid"], play.record.score) == (True, False, None)
    assert play.again() == prompt
    (begun,) = other.episodes.values()
    assert (play.record.task, play.record.fault, begun["group"], begun["seed"]) == (task, None, "g", 7)
    assert play.step("slow")
    assert play.record.score == 0.4
    other.stop()
    assert play.step("slow") == []
    assert not play.may_retry, "one retry is the default"
    assert play.finish().score is None
    assert play.record.details()["retries"] == 1


def test_an_episode_that_loses_its_server_in_a_tool_call_begins_again(scripted_pair: list[ScriptedServer]) -> None:
    settings = settings_of(scripted_pair, options={"max_turns": 1, "tools": {"check": 2}}, retries=2)
    fleet_of(client_of(settings))
    play = Play(settings)
    play.start("add_relu", group="g")
    assert play.call("check", {"code": "slow"})
    home, other = home_and_other(scripted_pair)
    home.stop()
    assert (play.call("check", {"code": "slow"}), play.may_retry) == ("", True)
    assert "turn 1: tool check: unavailable: " in str(play.record.fault)
    assert play.again()
    assert play.call("check", {"code": "slow"})
    assert play.step("slow")
    assert (play.record.score, play.record.details()["retries"]) == (0.4, 1)
    play.start("add_relu")
    assert play.record.details()["retries"] == 0, "of another episode"
    other.stop()
    play.step("slow")
    assert (play.may_retry, play.again(), play.may_retry) == (True, [], False), "no server is left"
    assert play.record.details()["retries"] == 2


def test_a_lost_reset_is_retried_and_other_faults_are_not(scripted: ScriptedServer) -> None:
    play = Play(settings_of([scripted], retries=0))
    assert play.start("add_relu")
    scripted.stop()
    assert play.step("slow") == []
    assert (play.may_retry, play.again()) == (False, []), "no retries"
    assert play.start("add_relu") == []
    assert str(play.record.fault).startswith("reset: unavailable: ")


def test_a_fault_of_the_judge_is_not_retried(scripted: ScriptedServer) -> None:
    play = Play(settings_of([scripted]))
    play.start("add_relu")
    play.step("fault")
    assert (play.record.score, play.may_retry, play.again()) == (None, False, [])


def test_an_asyncio_episode_begins_again(scripted_pair: list[ScriptedServer]) -> None:
    async def main() -> AsyncPlay:
        settings = settings_of(scripted_pair, options={"max_turns": 1})
        await asyncio.to_thread(fleet_of, await loop_client_of(settings))
        play = AsyncPlay(settings)
        await play.start("add_relu", group="g")
        home_and_other(scripted_pair)[0].stop()
        await play.step("slow")
        assert (play.may_retry, play.record.score) == (True, None)
        assert await play.again()
        await play.step("slow")
        return play

    assert asyncio.run(main()).record.score == 0.4


def test_settings_refuse_what_is_no_list_of_addresses() -> None:
    for wrong, said in [
        ([], "found no address"),
        (["tcp://a:1", "tcp://a:1"], "found tcp://a:1 twice"),
        ([["tcp://a:1"]], r"found \['tcp://a:1'\] in a list"),
        ({"a": 1}, "found {'a': 1}"),
        (None, "found None"),
    ]:
        with pytest.raises(hone.InvalidArgument, match=f"^endpoint: {said}"):
            Settings.of({"endpoint": wrong})


@pytest.mark.real
def test_a_lost_server_costs_its_episodes_and_no_others(two: list[RealServer], tmp_path: Path) -> None:
    doomed = RealServer(tmp_path / "serve.log")
    with hone.connect([two[0].endpoint, doomed.endpoint], reconnect_timeout=3) as client:
        fleet = fleet_of(client)
        started = [client.reset("add_relu").episode for _ in range(6)]
        lost = [one for one in started if home_of(client, one) == doomed.endpoint]
        assert len(lost) == 3
        doomed.process.send_signal(signal.SIGSTOP)  # the client does not know yet that it is gone
        threads = list(Path(f"/proc/{doomed.process.pid}/task").iterdir())
        wait_until(lambda: all("\nState:\tT" in (one / "status").read_text() for one in threads))
        begun = [client.submit("reset", {"task": "add_relu"}) for _ in range(4)]
        pool = Pool(client, 4, batch_size=4, task="add_relu", seed=1)
        pool.async_reset()
        doomed.process.kill()
        doomed.process.wait()
        answers = [ticket.result() for ticket in begun]
        assert all(failure is None for _, failure in answers), "a reset moves to the other server"
        seen = pool.recv()
        assert seen.info["error"] == [None] * 4, "a pool's resets move, too"
        pool.send([{"code": "no kernel"}] * 4, seen.info["env_id"])
        assert all(pool.recv().info["reward_valid"])
        pool.close()
        new = [client.reset("add_relu", group="g").episode for _ in range(4)]
        assert {home_of(client, one) for one in new} == {two[0].endpoint}
        for one in started:
            if one in lost:
                with pytest.raises(hone.Unavailable):
                    one.step(FAST)
            else:
                one.close()
        for one in new:
            one.close()
        for body, _ in answers:
            assert body is not None
            client.submit("close", {"episode": body["episode"]}).result()
        assert next(one.load for one in fleet.members() if one.endpoint == two[0].endpoint) == 0
    assert open_on(two[0]) == 0


@pytest.mark.real
def test_a_server_that_drains_gets_no_new_episodes(two: list[RealServer], tmp_path: Path) -> None:
    leaving = RealServer(tmp_path / "serve.log", 0, "--set", "server.drain_s=20")
    with hone.connect([two[0].endpoint, leaving.endpoint]) as client:
        members = {one.endpoint: one for one in fleet_of(client).members()}
        started = [client.reset("add_relu").episode for _ in range(2)]
        leaving.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not members[leaving.endpoint].serves)
        new = [client.reset("add_relu", timeout=60).episode for _ in range(4)]
        assert {home_of(client, one) for one in new} == {two[0].endpoint}
        for one in [*new, *(one for one in started if home_of(client, one) == two[0].endpoint)]:
            one.close()
    leaving.process.wait(timeout=60)


@pytest.mark.real
def test_wrong_lists_of_servers_are_errors_or_left_out(two: list[RealServer]) -> None:
    dead = f"tcp://127.0.0.1:{free_port()}"
    with hone.connect([dead, *endpoints_of(two)]) as client:
        assert client.reset("add_relu").episode.close()
    port = two[0].port
    with hone.connect([f"tcp://127.0.0.1:{port}", f"tcp://localhost:{port}"]) as client:
        wait_until(lambda: len(client._connection.members()) == 1)  # type: ignore[attr-defined]
    with pytest.raises(hone.InvalidArgument, match="found tcp://a:1 twice"):
        hone.connect(["tcp://a:1", "tcp://b:1", "tcp://a:1"])
    with pytest.raises(hone.InvalidArgument, match="found no address, expected an address such as 'tcp://HOST:5917'"):
        hone.connect([])
    for wrong, said in [
        ([two[0].endpoint, 5], "found 5 in a list, expected an address"),
        ([two[0].endpoint, "ray://hone"], "found 'ray://hone' in a list"),
        ([None], "found None in a list"),
        (5, "found 5, expected an address"),
        (None, "found None, expected"),
        (two[0].endpoint.encode(), "found b'tcp://"),
        ({"endpoint": two[0].endpoint}, "found {'endpoint': 'tcp://"),
    ]:
        with pytest.raises(hone.InvalidArgument, match=f"^endpoint: {said}"):
            hone.connect(wrong)  # type: ignore[arg-type]
    with pytest.raises(hone.InvalidArgument, match="control"):
        hone.connect(endpoints_of(two), control="tcp://127.0.0.1:1")
    with pytest.raises(hone.InvalidArgument, match="timeout: found nan"):
        hone.connect(endpoints_of(two), timeout=float("nan"))
    with pytest.raises(hone.InvalidArgument, match="nonsense"):
        hone.connect(["nonsense", dead], connect_timeout=1)
    with pytest.raises(hone.Unavailable, match="no hone server answered"):
        hone.connect([dead], connect_timeout=0.3)


@pytest.mark.real
def test_a_control_endpoint_in_a_list_is_an_error_that_names_the_main_one(
    two: list[RealServer], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hone.fleet.connection.OTHERS_S", 60)
    control, main = two[0].announced["control"], two[0].endpoint
    said = f"endpoint: {control} is the control endpoint of a server, .* served on the main endpoint {main}$"
    for given in ([control], [control, two[1].endpoint]):
        with pytest.raises(hone.InvalidArgument, match=said):
            hone.connect(given)
    for given in ([control, main], [main, control]):
        caplog.clear()
        with hone.connect(given) as client:
            assert [one.endpoint for one in fleet_of(client).members()] == [main]
            client.reset("add_relu").episode.close()
            wait_until(lambda: bool(caplog.records))
        (record,) = caplog.records
        assert f"{control} is the control endpoint" in record.getMessage()
        assert record.getMessage().endswith("; it is left out")


@pytest.mark.real
def test_a_client_shows_its_servers_and_an_episode_its_server(two: list[RealServer]) -> None:
    dead = f"tcp://127.0.0.1:{free_port()}"
    with hone.connect([two[0].endpoint, dead]) as client:
        assert repr(client) == (
            f"<hone.client.Client, connection to {two[0].endpoint} (serving), {dead} (not reached yet)>"
        )
        episode = client.reset("add_relu").episode
        assert episode.endpoint == two[0].endpoint
        assert episode.branch().episode.endpoint == two[0].endpoint
    assert "closed connection to" in repr(client)
    with hone.connect(two[0].endpoint) as plain:
        assert plain.reset("add_relu").episode.endpoint == two[0].endpoint
        assert f"connection to {two[0].endpoint} (serving)" in repr(plain)
    assert f"closed connection to {two[0].endpoint}" in repr(plain)


@pytest.mark.real
def test_the_log_names_a_server_that_does_not_answer(
    two: list[RealServer], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("hone.fleet.connection.WARN_S", 0.5)
    dead = f"tcp://127.0.0.1:{free_port()}"

    def said() -> list[str]:
        # Connections that other tests of this process have left open may warn as well.
        return [text for one in caplog.records if f"server {dead} " in (text := one.getMessage())]

    with hone.connect([dead, *endpoints_of(two)]):
        wait_until(lambda: bool(said()))
        time.sleep(1)  # the watch runs four more times
    (text,) = said()
    assert text.startswith(f"server {dead} has not answered for ")
    assert "new episodes go to other servers" in text


@pytest.mark.real
def test_servers_may_join_and_leave(two: list[RealServer]) -> None:
    with hone.connect([two[0].endpoint]) as client:
        fleet = fleet_of(client)
        fleet.set_endpoints(endpoints_of(two))
        fleet_of(client)
        started = [client.reset("add_relu").episode for _ in range(4)]
        used = collections.Counter(home_of(client, one) for one in started)
        assert used == dict.fromkeys(endpoints_of(two), 2)
        fleet.set_endpoints([two[1].endpoint])
        new = [client.reset("add_relu").episode for _ in range(6)]
        assert {home_of(client, one) for one in new} == {two[1].endpoint}, "a server that has left gets no episodes"
        fleet.set_endpoints([two[0].endpoint], are_all=False)
        assert [one.left_at for one in fleet.members()] == [None, None], "one is back, the other may be there"
        for one in started + new:
            one.close()


@pytest.mark.real
def test_a_server_that_starts_again_without_a_journal_loses_the_load_of_its_episodes(
    two: list[RealServer], tmp_path: Path
) -> None:
    port = free_port()
    first = RealServer(tmp_path / "serve.log", port)
    with hone.connect([two[0].endpoint, first.endpoint]) as client:
        fleet = fleet_of(client)
        member = next(one for one in fleet.members() if one.endpoint == first.endpoint)
        started = [client.reset("add_relu").episode for _ in range(4)]
        former = member.incarnation
        first.process.kill()
        first.process.wait()
        second = RealServer(tmp_path / "serve.log", port)
        try:
            wait_until(lambda: member.serves and member.incarnation != former)
            for one in started:
                with contextlib.suppress(hone.HoneError):
                    one.close()
            assert [one.load for one in fleet.members()] == [0, 0]
        finally:
            second.stop()


def simulate(*arguments: str) -> dict[str, Any]:
    command = [str(ROOT / "scripts/simulate-fleet"), *arguments, "--seconds", "200", "--json"]
    return {row["route"]: row for row in json.loads(subprocess.check_output(command))}


def test_the_simulation_shows_what_the_rule_is_for() -> None:
    rows = simulate("--workers", "400", "--servers", "8")
    registry, listed, drawn = rows["registry on Ray"], rows["list, many clients"], rows["random server"]
    assert registry["busiest_over_mean"] <= listed["busiest_over_mean"]
    assert drawn["preparations_per_100"] > 3 * listed["preparations_per_100"]


def test_one_client_uses_a_small_fleet_about_as_well_as_the_registry() -> None:
    rows = simulate("--workers", "32", "--servers", "8")
    registry, one = rows["registry on Ray"], rows["list, one client"]
    assert one["evaluations_per_s"] >= 0.95 * registry["evaluations_per_s"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--servers", "0"], "argument --servers: found '0', expected a number of at least 1"),
        (["--servers", "4,x"], "argument --servers: found 'x', expected a number of at least 1"),
        (["--workers", "0"], "argument --workers: found '0', expected a number of at least 1"),
        (["--seconds", "-1"], "argument --seconds: found '-1', expected seconds above 0"),
        (["--workers", "1", "--seconds", "0.001"], "no evaluation began within 0.001 s"),
    ],
)
def test_wrong_arguments_of_the_simulation_are_errors(arguments: list[str], said: str) -> None:
    done = subprocess.run([str(ROOT / "scripts/simulate-fleet"), *arguments], capture_output=True, text=True)
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr
