"""NeMo Gym's own agent plays episodes of hone through a resources server, with a model that answers from a script."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import nemo_gym.server_utils as gym
import pytest
import uvicorn
from fastapi import FastAPI
from hone.adapters import nemo_gym as adapter
from hone.adapters._play import Settings
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.global_config import GlobalConfigDictParser, GlobalConfigDictParserConfig
from omegaconf import OmegaConf
from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig

from scripted import ScriptedServer
from servers import ROOT, SECONDS_MAX, RealServer, free_port

FUSED = (ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp").read_text()
FOLDER = ROOT / "clients/python/examples/trainers/nemo_gym/resources_servers/hone_kernels"
Answer = dict[str, Any]
# What a model answers to a conversation: the items of its output.
Model = Callable[[list[dict[str, Any]]], list[Answer]]


def call(tool: str, **arguments: Any) -> Answer:
    return {"type": "function_call", "id": "f", "call_id": "c", "name": tool, "arguments": json.dumps(arguments)}


def text(said: str) -> Answer:
    content = [{"type": "output_text", "text": said, "annotations": []}]
    return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}


def says(*answers: Answer) -> Model:
    """A model that gives these answers in order, one for each request, and then a last word."""
    return lambda items: [[*answers, text("Done.")][sum(item.get("type") == "function_call" for item in items)]]


def model_app(model: Model, asked: list[dict[str, Any]]) -> FastAPI:
    app = FastAPI()

    @app.post("/v1/responses")
    async def responses(body: dict[str, Any]) -> dict[str, Any]:
        asked.append(body)
        shared = {"id": "r", "object": "response", "created_at": 0, "model": "scripted", "tools": []}
        return {**shared, "output": model(body["input"]), "tool_choice": "auto", "parallel_tool_calls": False}

    return app


class Gym:
    """Gym's client of the three servers, and what the model was asked."""

    def __init__(self, client: gym.ServerClient, resources: adapter.HoneResourcesServer) -> None:
        self.client = client
        self.resources = resources
        self.asked: list[dict[str, Any]] = []

    async def post(self, server: str, path: str, body: Any, status: int = 200, **more: Any) -> Any:
        answer = await self.client.post(server_name=server, url_path=path, json=body, **more)
        content = await answer.read()
        assert answer.status == status, content
        return json.loads(content) if path in ("/run", "/verify", "/aggregate_metrics") else content.decode()

    async def run(self, row: dict[str, Any], status: int = 200) -> Any:
        return await self.post("agent", "/run", row, status)


@contextlib.asynccontextmanager
async def serving(endpoint: str | list[str], model: Model, **settings: Any) -> AsyncIterator[Gym]:
    """The adapter, Gym's simple agent, and a model, each with a port of its own."""
    kinds = {"hone": "resources_servers", "agent": "responses_api_agents", "model": "responses_api_models"}
    places = {name: {"host": "127.0.0.1", "port": free_port(), "entrypoint": "app.py"} for name in kinds}
    config = OmegaConf.create({name: {kinds[name]: {name: place}} for name, place in places.items()})
    head = BaseServerConfig(host="127.0.0.1", port=1)
    client = gym.ServerClient(head_server_config=head, global_config_dict=config)
    resources = adapter.HoneResourcesServer(
        config=adapter.HoneResourcesServerConfig(**places["hone"], name="hone", endpoint=endpoint, **settings),
        server_client=client,
    )
    agent = SimpleAgent(
        config=SimpleAgentConfig(
            **places["agent"],
            name="agent",
            resources_server={"type": "resources_servers", "name": "hone"},
            model_server={"type": "responses_api_models", "name": "model"},
        ),
        server_client=client,
    )
    made = Gym(client, resources)
    apps = {
        "hone": resources.setup_webserver(),
        "agent": agent.setup_webserver(),
        "model": model_app(model, made.asked),
    }
    for name in ("hone", "agent"):
        {"hone": resources, "agent": agent}[name].setup_exception_middleware(apps[name])
    gym._GLOBAL_AIOHTTP_CLIENT = None  # it belongs to the event loop of the test before
    session = gym.set_global_aiohttp_client(gym.GlobalAIOHTTPAsyncClientConfig())
    servers = [
        uvicorn.Server(uvicorn.Config(apps[name], port=places[name]["port"], log_level="error")) for name in kinds
    ]
    tasks = [asyncio.create_task(server.serve()) for server in servers]
    while not all(server.started for server in servers):
        assert not any(task.done() for task in tasks), "a server did not start"
        await asyncio.sleep(0.01)
    try:
        yield made
    finally:
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*tasks)
        await session.close()


def play(endpoint: str | list[str], model: Model, use: Callable[[Gym], Any], **settings: Any) -> Any:
    async def main() -> Any:
        async with serving(endpoint, model, **settings) as made:
            return await use(made)

    return asyncio.run(asyncio.wait_for(main(), SECONDS_MAX))


def row(endpoint: str, **options: Any) -> dict[str, Any]:
    found = adapter.rows(Settings(endpoint=endpoint, options=options))
    return next(one for one in found if one["task"].endswith("add_relu"))


def test_an_episode_with_tools(real: RealServer) -> None:
    options = {"max_turns": 2, "tools": {"compile": 1, "hardware": 1}}
    model = says(
        call("compile", code=FUSED),
        call("compile", code=FUSED),
        call("hardware"),
        call("submit_kernel", code="int x;"),
        call("submit_kernel", code=f"```cpp\n{FUSED}\n```"),
        call("submit_kernel", code=FUSED),
    )
    wanted = row(real.endpoint, **options)
    names = [tool["name"] for tool in wanted["responses_create_params"]["tools"]]
    assert names == ["submit_kernel", "compile", "hardware"]
    prompt = wanted["responses_create_params"]["input"]
    assert [one["role"] for one in prompt] == ["system", "user"]
    assert prompt[1]["content"].startswith("Write the kernel that is asked for below.")
    assert "# Add, then ReLU" in prompt[1]["content"]

    async def use(made: Gym) -> Any:
        return await made.run(wanted), made.asked

    result, asked = play(real.endpoint, model, use, options=options)
    assert (result["mask_sample"], result["failure_reason"]) == (False, None)
    assert result["reward"] > 0
    assert (result["turns"], result["tool_calls"]) == (2, 2)
    assert result["speedup"] > 0
    assert result["hone"]["outcomes"] == ["build_failed", "correct"]
    assert result["hone"]["tool_calls"] == {"compile": 1, "hardware": 1}
    outputs = [item["output"] for item in asked[-1]["input"] if item.get("type") == "function_call_output"]
    starts = [
        "The kernel builds.",
        "error: tool compile: unknown, or no use left",
        "Device: ",
        "Your code did not compile",
    ]
    assert [output[: len(start)] for output, start in zip(outputs, starts, strict=False)] == starts
    assert outputs[4].endswith("The episode is over.")
    assert outputs[5] == "The episode is over: nothing more is judged. Answer with one word."
    assert [tool["name"] for tool in asked[0]["tools"]] == names


def test_a_model_without_tool_calls_is_judged_by_its_answer(scripted: ScriptedServer) -> None:
    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint))

    result = play(scripted.endpoint, lambda _: [text("slow")], use)
    assert (result["reward"], result["turns"]) == (0.4, 1)
    scripted.wait_for("closed")
    assert scripted.open() == []


def test_a_list_of_servers(scripted: ScriptedServer) -> None:
    servers = [scripted.endpoint, f"tcp://127.0.0.1:{free_port()}"]

    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint))

    assert play(servers, lambda _: [text("slow")], use, options={"max_turns": 1})["reward"] == 0.4


def test_a_models_mistakes_are_answers(scripted: ScriptedServer) -> None:
    model = says(call("submit_kernel"), call("profile"), call("check", kode="x"), call("submit_kernel", code="wrong"))

    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint)), made.asked

    result, asked = play(scripted.endpoint, model, use, options={"max_turns": 1, "tools": {"check": 1}})
    assert (result["reward"], result["turns"]) == (0.1, 1)
    outputs = [item["output"] for item in asked[-1]["input"] if item.get("type") == "function_call_output"]
    assert outputs[0].startswith("Nothing was judged: code must be a string")
    assert outputs[1].startswith("error: tool profile: unknown")
    assert outputs[2].startswith("error: the argument 'kode'")


@pytest.mark.parametrize("tool", ["submit_kernel", "check"])
def test_a_fault_is_masked_and_not_in_the_mean_of_its_group(scripted: ScriptedServer, tool: str) -> None:
    sources = iter(["fast", "fault", "wrong"])

    def model(items: list[dict[str, Any]]) -> list[Answer]:
        if any(item.get("type") == "function_call" for item in items):
            return [text("Done.")]
        source = next(sources)
        return [call(tool if source == "fault" else "submit_kernel", code=source)]

    async def use(made: Gym) -> Any:
        one = row(scripted.endpoint)
        results = [await made.run({**one, "_ng_task_index": 0, "_ng_rollout_index": at}) for at in range(3)]
        indexed = [{**result, "_ng_task_index": 0, "_ng_rollout_index": at} for at, result in enumerate(results)]
        return results, await made.post("hone", "/aggregate_metrics", {"verify_responses": indexed})

    options = {"max_turns": 1, "tools": {"check": 1}}
    results, metrics = play(scripted.endpoint, model, use, options=options)
    assert [result["mask_sample"] for result in results] == [False, True, False]
    fault = results[1]
    where = (
        "the judge's process died" if tool == "submit_kernel" else "tool check: unavailable: the builder's process died"
    )
    assert fault["failure_reason"] == f"turn 1: {where}"
    assert fault["failure_kind"] == fault["_ng_failure_class"] == "verifier_error"
    assert fault["instance_config"] == {"mask_sample": True}
    assert fault["hone"]["reward_valid"] is False
    assert metrics["agent_metrics"]["mean/reward"] == pytest.approx((1.3 + 0.1) / 2)
    assert metrics["agent_metrics"]["coverage/masked_rollouts"] == 1
    assert {reply["info"]["group"] for reply in scripted.reset_replies()} == {"nemo-gym-tasks/add_relu-0"}


def test_a_fault_with_on_fault_fail_fails_the_rollout(scripted: ScriptedServer) -> None:
    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint), 500)

    answer = play(scripted.endpoint, says(call("submit_kernel", code="fault")), use, on_fault="fail")
    assert "process died" in answer


def test_a_lost_server_is_a_fault(scripted: ScriptedServer) -> None:
    def model(items: list[dict[str, Any]]) -> list[Answer]:
        scripted.stop()
        return says(call("submit_kernel", code="slow"))(items)

    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint))

    result = play(scripted.endpoint, model, use, reconnect_timeout=0.2)
    assert result["mask_sample"] is True
    assert result["failure_reason"].startswith("turn 1: unavailable: ")


def test_a_wrong_row_is_an_error_and_not_a_sample(scripted: ScriptedServer) -> None:
    async def use(made: Gym) -> None:
        one = row(scripted.endpoint)
        answer = await made.run({**one, "task": "ad_relu"}, 500)
        assert "unknown task" in answer
        del one["task"]
        assert "Field required" in await made.run(one, 500)
        assert scripted.seen["reset"] == 1  # of the unknown task

    play(scripted.endpoint, says(), use)


def test_verify_without_an_episode_is_masked(scripted: ScriptedServer) -> None:
    async def use(made: Gym) -> Any:
        body = {**row(scripted.endpoint), "response": {**(await answer_of(made)), "output": [text("slow")]}}
        assert (
            await made.post("hone", "/check", {})
            == "The episode is over: nothing more is judged. Answer with one word."
        )
        return await made.post("hone", "/verify", body)

    async def answer_of(made: Gym) -> dict[str, Any]:
        answer = await made.client.post(server_name="model", url_path="/v1/responses", json={"input": []})
        return dict(json.loads(await answer.read()))

    result = play(scripted.endpoint, says(), use)
    assert (result["mask_sample"], result["failure_kind"]) == (True, "session_lost")
    assert result["failure_reason"].startswith("the session has no episode")


def response(*output: Answer) -> dict[str, Any]:
    shared = {"id": "r", "object": "response", "created_at": 0, "model": "forged", "tools": []}
    return {**shared, "output": list(output), "tool_choice": "auto", "parallel_tool_calls": False}


def outputs_of(asked: list[dict[str, Any]]) -> list[str]:
    return [item["output"] for item in asked[-1]["input"] if item.get("type") == "function_call_output"]


def test_a_model_that_seeds_a_session_keeps_its_episode(scripted: ScriptedServer) -> None:
    seed = call("seed_session", task="add_relu", seed=7)
    model = says(seed, call("submit_kernel", code="wrong"), seed, call("submit_kernel", code="fast"), seed)

    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint)), made.asked

    result, asked = play(scripted.endpoint, model, use, options={"max_turns": 1})
    assert (result["reward"], result["turns"], result["mask_sample"]) == (0.1, 1, False)
    assert scripted.seen["reset"] == 1
    for at in (0, 2, 4):
        assert "seed_session: the session already has an episode" in outputs_of(asked)[at]


SPELLINGS = ["verify", "../verify", "./verify", "verify?x=1", "verify#x", "%76erify", "ng-rollout/1/verify"]


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_model_that_verifies_gets_the_return_of_its_turns(scripted: ScriptedServer, name: str) -> None:
    """It cannot mask its sample, and what it writes into the request is not in the result."""
    forged = call(
        name,
        responses_create_params={"input": []},
        response=response(text("fast")),
        reward=9.0,
        mask_sample=True,
        failure_kind="verifier_error",
        failure_reason="forged",
        instance_config={"mask_sample": True},
        _ng_failure_class="forged",
        hone={"task": "forged"},
    )
    model = says(call("submit_kernel", code="wrong"), forged, call("submit_kernel", code="fast"), forged)

    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint)), made.asked

    result, asked = play(scripted.endpoint, model, use)
    _, first, submitted, second = outputs_of(asked)
    assert json.loads(first)["reward"] == json.loads(second)["reward"] == 0.1
    assert submitted == "The episode is over: nothing more is judged. Answer with one word."
    assert (result["reward"], result["turns"], result["mask_sample"]) == (0.1, 1, False)
    assert (result["failure_kind"], result["failure_reason"]) == (None, None)
    assert result["hone"]["outcomes"] == ["wrong"]
    assert result["response"]["model"] == "scripted"
    assert result["response"]["output"][-1]["content"][0]["text"] == "Done."
    assert not {"instance_config", "_ng_failure_class"} & set(result)
    assert (scripted.seen["close"], scripted.episodes) == (1, {})


def test_a_model_that_verifies_before_it_submits_is_judged_by_the_text_in_its_call(scripted: ScriptedServer) -> None:
    forged = call("verify", responses_create_params={"input": []}, response=response(text("slow")))
    model = says(forged, call("submit_kernel", code="fast"), forged)

    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint)), made.asked

    result, _ = play(scripted.endpoint, model, use)
    assert (result["reward"], result["turns"], result["mask_sample"]) == (0.4, 1, False)
    assert result["response"]["model"] == "scripted"
    assert scripted.evaluations == 1


def test_a_fault_stays_masked_when_the_model_verifies_first(scripted: ScriptedServer) -> None:
    forged = call("verify", responses_create_params={"input": []}, response=response(text("fast")))

    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint))

    result = play(scripted.endpoint, says(call("submit_kernel", code="fault"), forged), use)
    assert (result["mask_sample"], result["failure_kind"]) == (True, "verifier_error")
    assert result["failure_reason"] == "turn 1: the judge's process died"


@pytest.mark.parametrize(
    "name",
    ["verify/", "Verify", "/verify", "a/b", "", "openapi.json", "docs", "reverify_mode", "livez", "x" * 5000, "\u00e9"],
)
def test_other_names_are_mistakes_of_the_model(scripted: ScriptedServer, name: str) -> None:
    model = says(call(name, responses_create_params={"input": []}, response=response()))

    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint)), made.asked

    result, asked = play(scripted.endpoint, model, use)
    assert (result["reward"], result["turns"], result["mask_sample"]) == (1.3, 1, False)
    (output,) = outputs_of(asked)
    assert output.startswith("error: the argument ") or output.startswith("error: tool ")
    assert len(output) < 500


def test_a_model_gets_no_metrics(scripted: ScriptedServer) -> None:
    model = says(call("aggregate_metrics", verify_responses=[{"reward": 1.0, "_ng_task_index": 0}]))

    async def use(made: Gym) -> Any:
        return await made.run(row(scripted.endpoint)), made.asked

    result, asked = play(scripted.endpoint, model, use)
    assert (result["reward"], result["mask_sample"]) == (1.3, False)
    assert "aggregate_metrics: the session already has an episode" in outputs_of(asked)[0]


async def seeded(made: Gym) -> Any:
    """Starts an episode, and returns the cookies of its session."""
    answer = await made.client.post(server_name="hone", url_path="/seed_session", json={"task": "add_relu"})
    assert answer.status == 200
    return answer.cookies


def test_a_repeated_verify_has_the_same_answer(scripted: ScriptedServer) -> None:
    """Gym sends a request again if its connection was lost."""

    async def use(made: Gym) -> None:
        cookies = await seeded(made)
        body = {**row(scripted.endpoint), "response": response(text("slow"))}
        first = await made.post("hone", "/verify", body, cookies=cookies)
        assert (first["reward"], first["mask_sample"]) == (0.4, False)
        both = await asyncio.gather(*[made.post("hone", "/verify", body, cookies=cookies) for _ in range(2)])
        assert both == [first, first]
        assert scripted.evaluations == 1

    play(scripted.endpoint, says(), use)


def test_an_unverified_episode_is_ended_by_a_later_session(scripted: ScriptedServer) -> None:
    async def use(made: Gym) -> None:
        idle = await seeded(made)
        scripted.holding.add("close")
        await seeded(made)  # it does not wait until the other episode is closed
        scripted.wait_for("close")
        scripted.holding.clear()
        assert len(made.resources._playing) == 1
        body = {**row(scripted.endpoint), "response": response(text("slow"))}
        assert (await made.post("hone", "/verify", body, cookies=idle))["failure_kind"] == "session_lost"
        # A model whose session was dropped gets no second episode either.
        await made.post("hone", "/seed_session", {"task": "add_relu"}, 409, cookies=idle)

    play(scripted.endpoint, says(), use, session_seconds=0.0)


def test_a_session_with_a_waiting_request_is_not_idle(scripted: ScriptedServer) -> None:
    async def use(made: Gym) -> None:
        cookies = await seeded(made)
        (session,) = made.resources._playing.values()
        await session.lock.acquire()
        waiting = asyncio.create_task(made.post("hone", "/submit_kernel", {"code": "slow"}, cookies=cookies))
        while not session.requests:
            await asyncio.sleep(0.01)
        session.lock.release()
        made.resources._drop_old()  # now the lock is free, and the request does not have it yet
        assert list(made.resources._playing.values()) == [session]
        assert (await waiting).startswith("Your kernel was judged: correct.")

    play(scripted.endpoint, says(), use, session_seconds=0.0)


def test_verified_sessions_are_dropped(scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "VERIFIED_SESSIONS", 2)
    body = {**row(scripted.endpoint), "response": response(text("slow"))}

    async def use(made: Gym) -> None:
        sessions = [await seeded(made) for _ in range(4)]
        for cookies in sessions[:3]:
            await made.post("hone", "/verify", body, cookies=cookies)
        await made.post("hone", "/verify", body, cookies=sessions[0])  # then the second one is the oldest
        await seeded(made)
        kinds = [(await made.post("hone", "/verify", body, cookies=one))["failure_kind"] for one in sessions]
        assert kinds == [None, "session_lost", None, None]
        made.resources.config.session_seconds = 0.0
        await seeded(made)
        assert not made.resources._verified

    play(scripted.endpoint, says(), use)


def test_arguments_that_are_no_usable_json_are_mistakes_of_the_model(scripted: ScriptedServer) -> None:
    async def use(made: Gym) -> None:
        cookies = await seeded(made)

        async def posted(data: bytes, tool: str = "submit_kernel") -> str:
            answer = await made.client.post(server_name="hone", url_path=f"/{tool}", data=data, cookies=cookies)
            content = await answer.read()
            assert answer.status == 200, content
            return content.decode()

        nested = b'{"code": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
        for tool in ("submit_kernel", "check"):
            assert await posted(nested, tool) == "error: the arguments are nested too deeply"
            assert (await posted(b"\xff", tool)).startswith("error: the arguments are not valid JSON")
        half = b'{"code": ' + b"[" * 500 + b"]" * 500 + b"}"
        assert (await posted(half)).startswith("Nothing was judged: code must be a string")
        for code in (b"9" * 5000, b"NaN", b"[" + b"1," * 100_000 + b"1]"):
            answer = await posted(b'{"code": ' + code + b"}")
            assert answer.startswith(("error: ", "Nothing was judged: "))
            assert len(answer) < 500
        assert not scripted.evaluations
        answer = await posted(b'{"code": "\\ud800 \\u0000 slow"}')
        assert answer.startswith("Your kernel was judged: correct.")

    play(scripted.endpoint, says(), use, options={"tools": {"check": 1}})


def test_a_server_of_several_processes_is_refused() -> None:
    with pytest.raises(ValueError, match="found 2, expected 1: an episode lives in one process"):
        adapter.HoneResourcesServerConfig(host="h", port=1, entrypoint="", name="hone", num_workers=2)


def test_gym_starts_the_server_from_the_example_files(scripted: ScriptedServer, tmp_path: Path) -> None:
    """Gym reads the YAML file, completes it, and starts app.py with the result in its environment."""
    files = [str(FOLDER / "configs/hone_kernels.yaml"), "responses_api_models/openai_model/configs/openai_model.yaml"]
    policy = {"policy_base_url": "http://127.0.0.1:1", "policy_api_key": "none", "policy_model_name": "none"}
    given = OmegaConf.create({"config_paths": files, **policy})
    config = GlobalConfigDictParser().parse(
        GlobalConfigDictParserConfig(initial_global_config_dict=given, skip_load_from_cli=True)
    )
    place = config.hone_kernels_resources_server.resources_servers.hone_kernels
    assert place.endpoint == adapter.HoneResourcesServerConfig.model_fields["endpoint"].default
    port = free_port()
    place.update({"host": "127.0.0.1", "port": port, "endpoint": scripted.endpoint})
    environment = {
        **os.environ,
        "NEMO_GYM_CONFIG_DICT": OmegaConf.to_yaml(config),
        "NEMO_GYM_CONFIG_PATH": "hone_kernels_resources_server",
        "PYTHONUNBUFFERED": "1",
    }
    server = subprocess.Popen(
        [sys.executable, FOLDER / "app.py"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    stop = threading.Timer(100, server.kill)
    stop.start()
    try:
        lines = []
        for line in server.stdout:
            lines.append(line)
            if "Uvicorn running on" in line:
                break
        else:
            pytest.fail("".join(lines))

        async def seed() -> int:
            gym._GLOBAL_AIOHTTP_CLIENT = None
            session = gym.set_global_aiohttp_client(gym.GlobalAIOHTTPAsyncClientConfig())
            async with session.post(f"http://127.0.0.1:{port}/seed_session", json={"task": "add_relu"}) as answer:
                status = answer.status
            await session.close()
            return status

        assert asyncio.run(seed()) == 200
        assert next(iter(scripted.episodes.values()))["max_turns"] == 4
    finally:
        stop.cancel()
        server.kill()
        server.wait()


def test_the_documented_command_writes_rows(scripted: ScriptedServer, tmp_path: Path) -> None:
    page = (ROOT / "docs/trainers/nemo_gym.md").read_text()
    command = next(
        block
        for block in re.findall(r"^```sh no-run\n(.*?)^```$", page, re.M | re.S)
        if "hone.adapters.nemo_gym" in block
    )
    line = next(line for line in command.splitlines() if "hone.adapters.nemo_gym" in line)
    line = line.replace("tcp://127.0.0.1:5917", scripted.endpoint).replace("python -m", f"{sys.executable} -m")
    (tmp_path / "resources_servers/hone_kernels/data").mkdir(parents=True)
    done = subprocess.run(["bash", "-euc", line], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "resources_servers/hone_kernels/data/kernels.jsonl").read_text().splitlines()
    made = json.loads(written)
    assert made["task"] == "tasks/add_relu"
    assert "check" in [tool["name"] for tool in made["responses_create_params"]["tools"]]
