"""The C++ client as a user gets it: installed, found by find_package, built with both compilers, run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from test_keys import Guarded, guarded  # noqa: F401 - a fixture

COMPILERS = [name for name in ("g++", "clang++-14", "clang++") if shutil.which(name)][:2]


def check(*command: object, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=400, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=COMPILERS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("consume")
    settings = ["-G", "Ninja", f"-DCMAKE_CXX_COMPILER={request.param}", "-DCMAKE_BUILD_TYPE=Debug"]
    if shutil.which("ccache"):
        settings.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    cached = {"CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}  # the folder is another one in each run
    check("cmake", "-S", ROOT / "clients/cpp", "-B", folder / "client", *settings)
    check("cmake", "--build", folder / "client", **cached)
    check("cmake", "--install", folder / "client", "--prefix", folder / "prefix", "--component", "client")
    check(
        "cmake",
        "-S",
        ROOT / "tests/clients/consume",
        "-B",
        folder / "build",
        *settings,
        f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}",
    )
    check("cmake", "--build", folder / "build", **cached)
    return folder / "build" / "consume"


@pytest.mark.timeout(500)
def test_consumer(program: Path, endpoint: str) -> None:
    lines = check(program, endpoint).splitlines()
    assert [line.split(": reward")[0] for line in lines[:2]] == ["turn 1", "turn 2"]
    assert all(line.endswith("valid 1") for line in lines[:2])
    assert lines[2].startswith("after the end: the episode ended after turn 2")


@pytest.mark.timeout(500)
def test_consumer_with_a_key(program: Path, guarded: Guarded) -> None:  # noqa: F811
    lines = check(program, guarded.endpoint, guarded.key("trainer")).splitlines()
    assert all(line.endswith("valid 1") for line in lines[:2])
    refused = subprocess.run([program, guarded.endpoint], capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 1
    assert "the server requires a key" in refused.stderr


@pytest.mark.timeout(500)
def test_installed_headers_show_no_third_party(program: Path) -> None:
    prefix = program.parents[1] / "prefix"
    headers = sorted(str(path.relative_to(prefix / "include")) for path in prefix.rglob("*.h*"))
    assert headers == [
        "hone/abi.h",
        "hone/client.hpp",
        "hone/core/base/result.hpp",
        "hone/core/model/value.hpp",
        "hone/version.h",
    ]
    for header in headers:
        text = (prefix / "include" / header).read_text()
        assert not [word for word in ("zmq", "msgpack.hpp") if f"#include <{word}" in text]
    assert os.access(program, os.X_OK)
