"""The environment that `python -m hone openenv --write` writes: OpenEnv's own validator, its client, its image."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hone
import pytest
import requests
import tomllib
import yaml
from hone.adapters import openenv as adapter
from openenv.cli._cli_utils import validate_env_structure
from openenv.cli._validation import validate_multi_mode_deployment, validate_running_environment

from scripted import ScriptedServer
from servers import ROOT, SECONDS_MAX, RealServer, free_port

sys.path.insert(0, str(ROOT / "tests/container"))
import dockerfile

GOLDEN = ROOT / "envs/kernel_refine/tasks/add_relu/golden"


def run(*command: str, **given: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False, **given)


def write(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "hone", "openenv", *arguments)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "hone_env"
    done = write("--write", str(made), "--max-turns", "2", "--tools", "check=1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"wrote {made}, without hone-rl: `uv lock` needs hone-rl {hone.__version__}")
    return made


def test_openenv_validate_accepts_the_folder(folder: Path) -> None:
    openenv = str(Path(sys.executable).with_name("openenv"))
    done = run(openenv, "validate", str(folder), "--level", "static", "--skip-build", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["verdict"] == "pass"
    # Without a container engine, the checks of a running image are skipped.
    assert run(openenv, "validate", str(folder), "--skip-build").returncode == 0
    validate_env_structure(folder)
    # `uv lock` asks package registries, so it is the user's step.
    assert validate_multi_mode_deployment(folder)[1] == ["Missing uv.lock - run 'uv lock' to generate it"]


def test_manifest_declares_what_the_adapter_has(folder: Path) -> None:
    manifest = yaml.safe_load((folder / "openenv.yaml").read_text())
    assert (manifest["name"], manifest["version"]) == ("hone_env", hone.__version__)
    card = (folder / "README.md").read_text().split("---\n")[1]
    assert yaml.safe_load(card) | {"sdk": "docker", "app_port": manifest["port"]} == yaml.safe_load(card)
    settings: dict[str, Any] = {}
    exec((folder / "server/settings.py").read_text(), settings)
    assert settings["OPTIONS"] == {"reward": "tritonforge", "max_turns": 2, "tools": {"check": 1}}
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["server"] == [f"hone-rl[openenv]=={hone.__version__}"]


def test_reward_is_within_the_declared_range(folder: Path) -> None:
    """The largest reward of tritonforge, as its page defines it."""
    text = (ROOT / "docs/rewards.md").read_text()
    assert re.search(
        r"\| `tritonforge` \| 0 not built; 0\.1 built; 0\.3 correct instead, plus clip\(s . 1, 0, 2\) \|", text
    )
    assert yaml.safe_load((folder / "openenv.yaml").read_text())["validation"]["reward"]["range"] == [0.0, 0.3 + 2]


def test_client_needs_no_hone(folder: Path, real: RealServer) -> None:
    program = f"""
import sys
sys.modules["hone"] = None  # importing it fails
sys.path.insert(0, {str(folder.parent)!r})
from hone_env import HoneAction, HoneEnv
with HoneEnv(base_url=sys.argv[1], message_timeout_s=100).sync() as env:
    start = env.reset(task="add_relu")
    assert start.observation.turns_left == 2
    checked = env.step(HoneAction(tool="check", response="\\ud83d ```cpp\\n" + sys.argv[2] + "```"))
    print(checked.reward, checked.observation.tools_left)
    print(env.step(HoneAction(code=sys.argv[2])).observation.outcome)
"""
    with served(folder, {"HONE_ENDPOINT": real.endpoint}) as url:
        source = (GOLDEN / "demo_4_fused.cpp").read_text()
        done = run(sys.executable, "-c", program, url, source)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "None {'check': 0}\ncorrect\n"
        assert validate_running_environment(url)["passed"]


def test_client_and_models_are_the_adapters(folder: Path) -> None:
    for name in ("models", "client"):
        own = (Path(adapter.__file__).parent / f"_openenv_{name}.py").read_text()
        expected = own.replace("._openenv_models", ".models").replace("  # type: ignore[misc]", "")
        assert (folder / f"{name}.py").read_text() == expected


def test_image_copies_files_that_exist_and_its_command_serves(
    folder: Path, tmp_path: Path, scripted: ScriptedServer
) -> None:
    root, environment, command = build(folder, tmp_path / "image")
    assert sorted(path.name for path in (root / "app/env").iterdir() if path.suffix == ".py") == [
        "__init__.py",
        "client.py",
        "models.py",
    ]
    with serving(command, environment | {"HONE_ENDPOINT": scripted.endpoint}) as url:
        metadata = requests.get(f"{url}/metadata", timeout=20).json()
        assert (metadata["name"], metadata["version"]) == ("hone_env", hone.__version__)
    assert scripted.seen["hello"] >= 1


def test_image_starts_its_own_hone(folder: Path, tmp_path: Path, real: RealServer) -> None:
    """With hone-rl as `scripts/wheel` makes it: the package with the server in it."""
    _, environment, command = build(folder, tmp_path / "image")
    packages = tmp_path / "packages"
    shutil.copytree(Path(hone.__file__).parent, packages / "hone")
    (packages / "hone/_server").mkdir()
    (packages / "hone/_server/hone").symlink_to(os.environ["HONE_BINARY"])
    environment["PYTHONPATH"] += f":{packages}"
    with serving(command, environment) as url, adapter.HoneEnv(url, message_timeout_s=100).sync() as env:
        assert env.reset(task="add_relu").observation.turns_left == 2
        result = env.step(adapter.HoneAction(code=(GOLDEN / "demo_1_wrong.cpp").read_text()))
        assert (result.observation.outcome, result.reward) == ("wrong", 0.1)


def test_image_without_a_server_says_so(folder: Path, tmp_path: Path) -> None:
    _, environment, command = build(folder, tmp_path / "image")
    done = run(*command, env=environment)
    assert done.returncode == 2
    assert "this is the client alone" in done.stderr


def test_wheel_with_a_server_becomes_a_part_of_the_environment(tmp_path: Path) -> None:
    wheel = tmp_path / f"hone_rl-{hone.__version__}-cp311-cp311-manylinux_2_36_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("hone/_server/hone", "")
    folder = tmp_path / "hone_env"
    done = write("--write", str(folder), "--wheel", str(wheel))
    assert done.stdout == f"wrote {folder}; next: cd {folder} && uv lock && openenv validate\n"
    source = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["uv"]["sources"]["hone-rl"]
    assert (folder / source["path"]).read_bytes() == wheel.read_bytes()
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=3.11,<3.12"


def test_mistakes_are_reported(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("")
    wheel = tmp_path / f"hone_rl-{hone.__version__}-cp311-cp311-linux_x86_64.whl"
    zipfile.ZipFile(wheel, "w").close()
    text = tmp_path / f"hone_rl-{hone.__version__}-text.whl"
    text.write_text("no archive")
    old = tmp_path / "hone_rl-0.0.1-cp311-cp311-linux_x86_64.whl"
    missing = tmp_path / f"hone_rl-{hone.__version__}-missing.whl"
    for arguments, said in (
        (["--write", "full"], "full: found files, expected an empty folder"),
        (["--write", "new", "--wheel", str(wheel)], "found no server in it; use a wheel of scripts/wheel"),
        (["--write", "new", "--wheel", str(old)], f"expected a wheel of hone-rl {hone.__version__}"),
        (["--write", "new", "--wheel", str(missing)], "no such file; scripts/wheel makes a wheel"),
        (["--write", "new", "--wheel", str(text)], "found no zip archive, expected a wheel of scripts/wheel"),
        (["--wheel", str(wheel)], "--wheel: found no --write DIR; use them together"),
    ):
        done = run(sys.executable, "-m", "hone", "openenv", *arguments, cwd=tmp_path)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "new").exists()


def build(context: Path, root: Path) -> tuple[Path, dict[str, str], list[str]]:
    """The last stage of the Dockerfile in a folder, with its variables and its command.

    Instructions that need a network are left out: this interpreter's environment stands for `uv sync`.
    """
    text = (context / "server/Dockerfile").read_text()
    made: dict[str, Path] = {}
    environment, command, stage_root = {**os.environ}, [], root
    environment.pop("PYTHONPATH", None)
    for stage in dockerfile.stages(text):
        workdir = stage_root = root / (stage.name or "final")
        for keyword, rest in stage.instructions:
            if keyword == "COPY":
                *option, source, target = rest.split()
                place = stage_root / target.lstrip("/")
                if option:
                    copied = made[option[0].removeprefix("--from=")] / source.lstrip("/")
                    shutil.copytree(copied, place, symlinks=True)
                else:
                    dockerfile.copy_context(context, source, place)
            elif keyword == "WORKDIR":
                workdir = stage_root / rest.lstrip("/")
            elif keyword == "RUN" and "uv sync" in rest:
                (workdir / ".venv").mkdir()
                for one in Path(sys.prefix).iterdir():
                    (workdir / ".venv" / one.name).symlink_to(one)
            elif keyword == "RUN" and rest.startswith("mv "):
                _, source, target = rest.split()
                (stage_root / source.lstrip("/")).rename(stage_root / target.lstrip("/"))
            elif keyword == "ENV":
                name, _, value = rest.partition("=")
                value = value.strip('"').replace(f"${name}", environment.get(name, ""))
                environment[name] = value.replace("/app/", f"{stage_root}/app/")
            elif keyword == "CMD":
                command = [part.replace("/app/", f"{stage_root}/app/") for part in json.loads(rest)]
        made[stage.name] = stage_root
    return stage_root, environment, command


@contextmanager
def served(folder: Path, variables: dict[str, str]) -> Iterator[str]:
    """The server of the folder, as `uv run server` starts it."""
    environment = {**os.environ, **variables, "PYTHONPATH": str(folder.parent)}
    with serving([sys.executable, "-m", "hone_env.server.app"], environment, port_option=True) as url:
        yield url


@contextmanager
def serving(command: list[str], environment: dict[str, str], *, port_option: bool = False) -> Iterator[str]:
    """Starts a server, waits until it is healthy, and ends it with the processes that it started."""
    port = free_port()
    command = [*command, "--port", str(port)] if port_option else command
    environment = {**environment, "PORT": str(port)}
    with subprocess.Popen(command, env=environment, start_new_session=True) as server:
        try:
            url, end = f"http://127.0.0.1:{port}", time.monotonic() + 100
            while not is_healthy(url):
                assert server.poll() is None, server.returncode
                assert time.monotonic() < end
            yield url
        finally:
            os.killpg(server.pid, 15)


def is_healthy(url: str) -> bool:
    try:
        return requests.get(f"{url}/health", timeout=20).status_code == 200
    except requests.ConnectionError:
        time.sleep(0.1)
        return False
