"""`hone gateway tritonforge` with the real server and interpreter: kernels, faulty requests, load."""

import http.client
import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from gateway_process import RELU, Gateway, serving

from conftest import BUILD, SECONDS_MAX


def test_kernels_of_every_kind(gateway, relu):
    status, reply = gateway.judge(relu, RELU.format("torch.relu(x)"), backend="triton", seed=42)
    assert status == 200
    assert set(reply) == {"compiled", "correctness", "metadata", "runtime", "runtime_stats"}
    assert (reply["compiled"], reply["correctness"]) == (True, True)
    # No time is invented where none was taken.
    assert (reply["runtime"], reply["runtime_stats"]) == (-1.0, {})
    assert "does not time modules" in reply["metadata"]["error_during_performance"]
    _, reply = gateway.judge(relu, RELU.format("torch.relu(x)"), measure_performance=False)
    assert "error_during_performance" not in reply["metadata"]

    status, reply = gateway.judge(relu, RELU.format("x"))
    assert (status, reply["compiled"], reply["correctness"]) == (200, True, False)
    assert reply["metadata"]["correctness_issue"].startswith("output out is wrong")

    status, reply = gateway.judge(relu, RELU.format("__import__('ctypes').string_at(0)"))
    assert (status, reply["compiled"], reply["correctness"]) == (200, True, False)
    assert "SIGSEGV" in reply["metadata"]["runtime_error"]

    status, reply = gateway.judge(relu, "class ModelNew(")
    assert (status, reply["compiled"], reply["correctness"]) == (200, False, False)
    assert "submission.py:1" in reply["metadata"]["compilation_error"]
    missing = "import torch, not_there\n" + RELU.format("x")
    assert gateway.judge(relu, missing)[1]["compiled"] is False


def test_faults_are_counted_as_the_robust_server_does(gateway):
    none = {"per_device_faults": {}, "total_faults": 0, "max_faults_threshold": None, "devices_near_limit": []}
    gateway.ask("POST", "/reset_devices")
    assert gateway.ask("GET", "/fault_statistics") == (200, none)
    assert gateway.ask("POST", "/fault_statistics")[0] == 404


def test_text_with_half_a_character_is_judged(gateway, relu):
    for text in ("\ud83d", "\ude00\ud83d", "\0"):
        status, reply = gateway.judge(relu, RELU.format("torch.relu(x)") + f"# {text}\n")
        assert (status, reply["metadata"]["outcome"]) == (200, "rejected" if text == "\0" else "correct"), reply


def test_real_turns_of_the_traces(gateway, traces):
    turns = {turn["turn"]: turn for turn in traces["kernelbook_632"]["turns"]}
    assert [turns[n]["result"]["correctness"] for n in (1, 2, 3, 4)] == [False, True, True, False]
    for n in (1, 2, 4):
        status, reply = gateway.judge(traces["kernelbook_632"]["pytorch_code"], turns[n]["triton_code"])
        assert (status, reply["correctness"]) == (200, turns[n]["result"]["correctness"]), reply


def test_sixteen_at_once(gateway, relu):
    """Each gets its own verdict, whatever the neighbours do; what needs no evaluation does not wait."""
    bodies = ["torch.relu(x)", "x", "__import__('ctypes').string_at(0)", "nothing_there"] * 4
    with ThreadPoolExecutor(16) as pool:
        replies = pool.map(lambda body: gateway.judge(relu, RELU.format(body)), bodies)
        assert gateway.ask("GET", "/health")[1]["status"] == "healthy"
        found = [(status, reply["metadata"]["outcome"]) for status, reply in replies]
    assert found == [(200, word) for word in ("correct", "wrong", "crashed", "crashed")] * 4


def test_references_that_are_none(gateway):
    for reference, why in (
        ("class Model(", "SyntaxError: '(' was never closed"),
        ("class Model(\ndef get_inputs", "SyntaxError: '(' was never closed"),
        ("class A: pass\ndef get_inputs(): return []\n", "it defines no module"),
        ("import not_there\nclass A: pass\ndef get_inputs(): return []\n", "it needs the package not_there, which "),
        ("x" * 300_000, "longer than 256 KB"),
    ):
        status, reply = gateway.judge(reference, RELU.format("x"))
        assert (status, why in reply["detail"]) == (400, True), reply


TWO_CLASSES = """import torch
class Model(torch.nn.Module):
    def forward(self, x): return x * 2
class Sum(torch.nn.Module):
    def forward(self, x): return x.sum()
def reference_impl(x): return x + 3
def get_inputs(): return [torch.rand(4, 8)]
def get_init_inputs(): return []
"""


def reference_that(does):
    return f"import os, time, torch\n{does}\nclass Model(torch.nn.Module): pass\ndef get_inputs(): return []\n"


def test_a_reference_that_exits_or_crashes_is_refused(gateway):
    for does, why in (
        ("os._exit(0)", "the process that ran it to describe it exited with status 0"),
        ("os.kill(os.getpid(), 9)", "the process that ran it to describe it was ended by SIGKILL"),
        ("os.kill(os.getppid(), 9)", "was killed by SIGKILL during the call"),
    ):
        status, reply = gateway.judge(reference_that(does), RELU.format("x"))
        assert (status, why in reply["detail"]) == (400, True), reply


def test_entry_named_by_a_request_is_judged(gateway, bench):
    for entry, body in (("Sum", "x.sum()"), ("Model", "x * 2"), ("", "x * 2")):
        status, reply = gateway.judge(TWO_CLASSES, RELU.format(body), entry_point=entry)
        assert (status, reply["correctness"]) == (200, True), (entry, reply)
    status, reply = gateway.judge(TWO_CLASSES, RELU.format("x"), entry_point="Sun")
    assert (status, "it defines no module called 'Sun', found Model, Sum" in reply["detail"]) == (400, True)
    kernel = "def triton_kernel_wrapper(x):\n    return x + 3\n"
    result = bench.benchmark_triton_kernel(kernel, TWO_CLASSES, {"x": {"shape": [4, 8]}})
    assert (result["correctness"], result["error"]) == (True, None)


def test_requests_that_are_none(gateway, relu):
    status, reply = gateway.ask("POST", "/eval", {"original_model_src": relu, "seed_num": "many"})
    assert status == 422
    assert [mistake["loc"][-1] for mistake in reply["detail"]] == ["custom_model_src", "seed_num"]
    assert gateway.ask("POST", "/eval", b'{"original_model_src": ')[0] == 422
    status, reply = gateway.ask("POST", "/eval", json.dumps({"custom_model_src": "#" * (20 << 20)}).encode())
    assert (status, reply) == (413, {"detail": "the request is longer than 4 MB"})
    assert gateway.ask("POST", "/eval", b"{}", {"Content-Type": "text/plain"})[0] == 415
    assert gateway.ask("GET", "/eval")[0] == 405
    assert gateway.ask("GET", "/nothing")[0] == 404
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=60)
    connection.putrequest("POST", "/eval")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", "1000")
    connection.endheaders(b'{"original_model_src": "half')
    connection.close()
    assert gateway.ask("GET", "/health")[0] == 200


def test_other_requests_of_clients_are_answered(gateway):
    assert gateway.ask("GET", "/gpu_status")[1]["error"] == "CUDA not available"
    assert gateway.ask("GET", "/backend_info")[1]["supported_backends"] == ["cuda", "triton"]
    reset = {"status": "device pool reset", "available_devices": [], "fault_counts": {}}
    assert gateway.ask("POST", "/reset_devices")[1] == reset
    assert gateway.ask("POST", "/cleanup")[0] == 200
    status, reply = gateway.ask("POST", "/reset_gpu/0")
    assert (status, reply["detail"].startswith("Invalid device ID: 0")) == (400, True)


def test_a_server_of_its_own_serves_the_gateway(python, relu, tmp_path):
    """--endpoint: the server has asked for references, in a folder of the operator's; with a token."""
    folder = tmp_path / "references"
    folder.mkdir(mode=0o700)
    token = tmp_path / "token"
    token.write_text("a-token-of-this-test\n")
    token.chmod(0o600)
    datasets = f"datasets=[{{name: references, plugin: references, unlisted: true, config: {{path: '{folder}'}}}}]"
    with serving(python, datasets, tmp_path / "serve.log") as (endpoint, server):
        place = ["--endpoint", endpoint, "--references", folder, "--token-file", token]
        gateway = Gateway(tmp_path / "log", "", *place)
        try:
            ask = {"original_model_src": relu, "custom_model_src": RELU.format("torch.relu(x)")}
            assert gateway.ask("POST", "/eval", ask)[0] == 401
            headers = {"Authorization": "Bearer a-token-of-this-test"}
            assert gateway.ask("POST", "/eval", ask, headers)[1]["correctness"] is True
            assert len(list(folder.iterdir())) == 2  # this one and the gateway's own check
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=90) == 0
            # A fault is no verdict.
            status, reply = gateway.ask("GET", "/health", headers=headers)
            assert (status, reply["status"]) == (503, "unhealthy")
        finally:
            gateway.process.kill()
            gateway.process.wait()


def test_description_that_times_out_is_a_fault(python, relu, tmp_path):
    """The submission is not to blame: 503 with a time to try again, and no second try before that."""
    folder = tmp_path / "references"
    folder.mkdir(mode=0o700)
    config = f"{{path: '{folder}', describe_seconds: 20}}"
    datasets = f"datasets=[{{name: references, plugin: references, unlisted: true, config: {config}}}]"
    with serving(python, datasets, tmp_path / "serve.log") as (endpoint, _):
        gateway = Gateway(tmp_path / "log", "", "--endpoint", endpoint, "--references", folder)
        try:
            hangs = reference_that("while True: pass")
            with ThreadPoolExecutor(2) as pool:
                first, other = pool.submit(gateway.judge, hangs, RELU.format("x")), None
                while other is None and not first.done():
                    if gateway.ask("GET", "/health")[1]["evaluations_running"]:
                        other = pool.submit(gateway.judge, relu + "# not seen before\n", RELU.format("torch.relu(x)"))
                assert other is not None, first.result()
                status, reply = first.result()
                late = "running it to describe it took longer than 20 s, the limit"
                assert (status, late in reply["detail"]) == (503, True), reply
                assert other.result()[1]["correctness"] is True
            connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=60)
            body = json.dumps({"original_model_src": hangs, "custom_model_src": RELU.format("x")})
            connection.request("POST", "/eval", body, {"Content-Type": "application/json"})
            again = connection.getresponse()
            assert (again.status, again.getheader("Retry-After")) == (503, "5")
            assert gateway.ask("GET", "/fault_statistics")[1]["total_faults"] == 2
            gateway.ask("POST", "/reset_devices")
            assert gateway.ask("GET", "/fault_statistics")[1]["total_faults"] == 0
            known = " (known from an earlier request)"
            assert known in json.loads(again.read())["detail"]
        finally:
            gateway.process.kill()
            gateway.process.wait()


def test_full_gateway_refuses_and_stopped_gateway_answers(python, relu, tmp_path):
    gateway = Gateway(tmp_path / "log", python, "--evaluations", "1")
    try:
        with ThreadPoolExecutor(1) as pool:
            spins = RELU.format("x\n    while True:\n        pass")
            spinning = pool.submit(gateway.judge, relu, spins)
            while gateway.ask("GET", "/health")[1]["evaluations_running"] == 0:
                assert not spinning.done()
            status, reply = gateway.judge(relu, RELU.format("x"))
            assert (status, "evaluations under way: 1," in reply["detail"]) == (429, True)
            assert gateway.stop() == 0
            assert spinning.result() == (503, {"detail": "the gateway is stopping"})
    finally:
        gateway.process.kill()
        gateway.process.wait()


def test_disconnected_client_is_not_judged(gateway, relu):
    asked = {"original_model_src": relu, "custom_model_src": RELU.format("x\n    while True:\n        pass")}
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=SECONDS_MAX)
    connection.request("POST", "/eval", json.dumps(asked).encode(), {"Content-Type": "application/json"})
    while gateway.ask("GET", "/health")[1]["evaluations_running"] == 0:
        pass
    connection.close()
    while gateway.ask("GET", "/health")[1]["evaluations_running"]:
        pass
    assert "the client closed the connection" in gateway.log.read_text()


def test_a_server_that_did_not_ask_takes_no_references(hone, python, tmp_path):
    command = [BUILD / "hone", "serve", "--json", "--endpoint", "tcp://127.0.0.1:0", "--control", "tcp://127.0.0.1:0"]
    with (tmp_path / "serve.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
    try:
        endpoint = json.loads(server.stdout.readline())["endpoint"]
        refused = hone("gateway", "tritonforge", "--endpoint", endpoint, "--references", tmp_path)
    finally:
        server.kill()
        server.wait()
    assert refused.returncode != 0
    assert (
        "the server has no dataset of references; add to its configuration: datasets: [{name: references"
        in refused.stderr
    )


def test_unstartable_program_has_a_reason(hone, python, tmp_path):
    assert "any client of the gateway can run code" in hone("gateway", "tritonforge", "--listen", "0.0.0.0:0").stderr
    bare = hone("gateway", "tritonforge", "--listen", "127.0.0.1:0")
    assert "cpu.python is not set" in bare.stderr
    assert "scripts/setup --python" in bare.stderr
    token = tmp_path / "token"
    token.write_text("short")
    token.chmod(0o644)
    assert "other users can read the secret" in hone("gateway", "tritonforge", "--token-file", token).stderr
    token.chmod(0o600)
    assert "expected a token of at least 16" in hone("gateway", "tritonforge", "--token-file", token).stderr
    missing = hone("gateway", "tritonforge", "--listen", "127.0.0.1:0", "--python", sys.executable)
    assert missing.returncode != 0
    assert "torch" in missing.stderr


def test_the_place_and_the_folder_are_looked_at_first(hone, gateway, tmp_path):
    """Before a server starts: without an interpreter nothing would start here."""
    taken = hone("gateway", "tritonforge", "--listen", f"127.0.0.1:{gateway.port}")
    assert "cannot listen on 127.0.0.1" in taken.stderr
    tmp_path.chmod(0o777)
    place = ("--listen", "127.0.0.1:0", "--references", tmp_path)
    assert "other users may write to it" in hone("gateway", "tritonforge", *place).stderr


def test_files_of_a_killed_gateway_are_removed_at_the_next_start(python, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("TMPDIR", str(folder))

    def left():
        return {lock.parent for lock in folder.glob("hone-*/gateway.lock")}

    killed = Gateway(tmp_path / "killed", python)
    killed.process.kill()
    killed.process.wait()
    (stale,) = left()
    alive = Gateway(tmp_path / "alive", python)
    second = Gateway(tmp_path / "second", python)
    try:
        assert len(left()) == 2
        assert stale not in left()
        assert second.stop() == 0
        assert alive.stop() == 0
        assert left() == set()
    finally:
        for one in (alive, second):
            one.process.kill()
            one.process.wait()
