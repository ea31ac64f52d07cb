"""Writes an environment in the form that OpenEnv's tools and its hub expect.

The client and the models are copies of the adapter's own files, so that users of the environment
need no hone. The server uses hone-rl.
"""

from __future__ import annotations

import pprint
import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from hone import __version__
from hone._requests import DEFAULT_ENDPOINT

#: The name of the environment and of its package. OpenEnv derives the class ``HoneEnv`` from it.
ENVIRONMENT = "hone_env"
DESCRIPTION = (
    "Write fast and correct kernels: each turn builds, checks and times a kernel, and its feedback "
    "says how to go on."
)
#: The reward of the written environment, and its smallest and largest value (docs/rewards.md).
REWARD = "tritonforge"
REWARD_RANGE = (0.0, 2.3)
_HERE = Path(__file__).parent
_SERVER_IN_WHEEL = "hone/_server/hone"


def write(
    folder: Path, *, options: Mapping[str, Any], sessions: int, wheel: Path | None = None
) -> None:
    """Writes the environment.

    Args:
        folder: The folder to write. It must be empty or missing.
        options: Options of every episode.
        sessions: The largest number of sessions at the same time.
        wheel: A wheel of hone-rl with the server, from ``scripts/wheel``. It is copied into the
            environment. None: the environment's image installs hone-rl from a package registry.

    Raises:
        ValueError: The folder is not empty, or the wheel has no server.
        OSError: A file cannot be read or written.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder}: found files, expected an empty folder")
    source = _wheel_source(wheel)
    named = {
        "name": ENVIRONMENT,
        "version": __version__,
        "description": DESCRIPTION,
        "endpoint": DEFAULT_ENDPOINT,
        "options": pprint.pformat({"reward": REWARD, **options}),
        "sessions": str(sessions),
        "low": str(REWARD_RANGE[0]),
        "high": str(REWARD_RANGE[1]),
        "source": source,
        "python": _python_of(wheel),
        "origin": "the wheel in `wheels/`"
        if wheel is not None
        else "publish it on a package registry, or delete this folder and write it again with "
        "`--wheel`",
    }
    files = {path: Template(text).substitute(named) for path, text in _TEMPLATES.items()}
    for path, copied in (("models.py", "_openenv_models.py"), ("client.py", "_openenv_client.py")):
        text = (_HERE / copied).read_text(encoding="utf-8")
        files[path] = text.replace("._openenv_models", ".models").replace(
            "  # type: ignore[misc]", ""
        )
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    if wheel is not None:
        (folder / "wheels").mkdir()
        shutil.copy(wheel, folder / "wheels" / wheel.name)


def _wheel_source(wheel: Path | None) -> str:
    """The part of ``pyproject.toml`` that says where hone-rl comes from.

    Raises:
        ValueError: The file is not a wheel of hone-rl, has another version, or has no server.
    """
    if wheel is None:
        return ""
    version = re.fullmatch(r"hone_rl-([^-]+)-[\w.+-]+\.whl", wheel.name)
    if version is None or version[1] != __version__:
        raise ValueError(f"{wheel.name}: expected a wheel of hone-rl {__version__}")
    if not wheel.is_file():
        raise ValueError(f"{wheel}: no such file; scripts/wheel makes a wheel")
    if not zipfile.is_zipfile(wheel):
        raise ValueError(f"{wheel}: found no zip archive, expected a wheel of scripts/wheel")
    with zipfile.ZipFile(wheel) as archive:
        if _SERVER_IN_WHEEL not in archive.namelist():
            raise ValueError(f"{wheel.name}: found no server in it; use a wheel of scripts/wheel")
    return f'\n[tool.uv.sources]\nhone-rl = {{ path = "wheels/{wheel.name}" }}\n'


def _python_of(wheel: Path | None) -> str:
    """The Python versions of the environment. A wheel with compiled code fits one of them."""
    tag = re.search(r"-cp3(\d+)-", wheel.name) if wheel is not None else None
    return f">=3.{tag[1]},<3.{int(tag[1]) + 1}" if tag else ">=3.10"


_README = """\
---
title: Hone
emoji: 🔧
colorFrom: gray
colorTo: green
sdk: docker
pinned: false
app_port: 8000
base_path: /web
tags:
  - openenv
---

# Hone

$description Written by `python -m hone openenv --write` of hone-rl $version.

```python
from $name import HoneAction, HoneEnv

with HoneEnv(base_url="http://localhost:8000", message_timeout_s=600).sync() as env:
    result = env.reset()
    messages = list(result.observation.messages)
    while not result.done:
        answer = my_model(messages)
        result = env.step(HoneAction(response=answer))
        messages += [{"role": "assistant", "content": answer}, *result.observation.messages]
```

The client needs only OpenEnv: `pip install .` in this folder.

| member of an observation | meaning |
|---|---|
| `messages` | new messages of the environment: the prompt, then feedback |
| `reward` | of the turn, $low to $high; None after a tool call or a fault |
| `reward_valid`, `fault` | False after a fault of the machine: do not train on it; the reason |
| `turns_left`, `tools_left` | turns, and uses of each tool, that are left |
| `outcome`, `best_speedup` | of the turn; of the episode |
| `return_to_date`, `returns` | of the episode so far; of each turn, at the end |

`reset(task=...)` or `reset(split=..., index=...)` chooses a task. If `OPTIONS` in
`server/settings.py` has `"tools": {"check": 4}`, then `HoneAction(tool="check", code=...)` calls
a tool.

## Server

```sh
uv lock
docker build -t $name:latest -f server/Dockerfile .
docker run -p 8000:8000 $name:latest
openenv push
```

`uv lock` needs hone-rl $version: $origin.

The container starts `hone serve`, which compiles and judges kernels on the container's processor.
With the environment variable `HONE_ENDPOINT` it uses another hone server. Without
Docker, next to a running hone server:

```sh
HONE_ENDPOINT=$endpoint uv run --extra server server
```
"""

_MANIFEST = """\
spec_version: 1
name: $name
version: $version
type: space
runtime: fastapi
app: server.app:app
port: 8000
validation:
  reward:
    range: [$low, $high]
    oracle_tolerance: 0.0
    floor_margin: 0.1
  resources:
    cpu: 2.0
    memory_mb: 4096
    disk_mb: 2048
    episode_timeout_s: 3600.0
  capabilities:
    verifier:
      kind: reward_channel
    task_api: true
  types:
    tags: [code, kernels]
"""

_PYPROJECT = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "openenv-hone-env"
version = "$version"
description = "$description"
requires-python = "$python"
dependencies = ["openenv>=0.10,<0.11"]

[project.optional-dependencies]
server = ["hone-rl[openenv]==$version"]

[project.scripts]
server = "$name.server.app:main"

[tool.setuptools]
packages = ["$name", "$name.server"]
package-dir = { "$name" = ".", "$name.server" = "server" }
$source"""

_DOCKERFILE = """\
# In the form that `openenv build` and `openenv push` expect. The build context is this environment.
ARG BASE_IMAGE=ghcr.io/huggingface/openenv-base:latest
FROM $${BASE_IMAGE} AS builder

COPY . /app/env
WORKDIR /app/env
RUN command -v uv || pip install --no-cache-dir uv
RUN if [ -f uv.lock ]; then uv sync --frozen --no-editable --extra server; \\
    else uv sync --no-editable --extra server; fi
RUN mv /app/env/.venv /app/.venv

FROM $${BASE_IMAGE}

# hone compiles submissions.
RUN apt-get update \\
    && apt-get install -y --no-install-recommends g++ curl \\
    && rm -rf /var/lib/apt/lists/*
COPY --from=builder /app/.venv /app/.venv
COPY --from=builder /app/env /app/env
ENV PATH="/app/.venv/bin:$$PATH"
ENV PYTHONPATH="/app/env"
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \\
    CMD curl -f http://localhost:8000/health || exit 1
CMD ["sh", "/app/env/server/start"]
"""

_START = """\
#!/bin/sh
# Starts hone, unless HONE_ENDPOINT names a server, and then OpenEnv's server.
# PORT: the port of OpenEnv's server (default: 8000).
set -eu
cd "$$(dirname "$$0")/.."
if [ -z "$${HONE_ENDPOINT:-}" ]; then
  python -m hone --version
  sockets=$$(mktemp -d)
  export HONE_ENDPOINT="ipc://$$sockets/serve"
  python -m hone serve --endpoint "$$HONE_ENDPOINT" --control "ipc://$$sockets/control" &
fi
exec python -m server.app --port "$${PORT:-8000}"
"""

_SETTINGS = '''\
"""The hone server, and the options of every episode."""

import os

ENDPOINT = os.environ.get("HONE_ENDPOINT", "$endpoint")
# "max_turns", "tools", ...: the options of a reset. openenv.yaml declares the range of this reward.
OPTIONS = $options
SESSIONS = $sessions
'''

_ENVIRONMENT_FILE = '''\
"""The environment of a session: one episode of hone after another."""

from hone.adapters.openenv import HoneEnvironment

__all__ = ["HoneEnvironment"]
'''

_APP = '''\
"""The server: ``uvicorn server.app:app``, or ``python -m server.app``."""

import argparse

import uvicorn
from hone.adapters import openenv

from .settings import ENDPOINT, OPTIONS, SESSIONS

app = openenv.app(ENDPOINT, OPTIONS, sessions=SESSIONS)


def main():
    """Serves until it is interrupted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="0.0.0.0")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    uvicorn.run(app, host=given.host, port=given.port)


if __name__ == "__main__":
    main()
'''

_PACKAGE = '''\
"""Hone: an environment for OpenEnv. $description"""

from .client import HoneEnv
from .models import HoneAction, HoneObservation

__all__ = ["HoneAction", "HoneEnv", "HoneObservation"]
'''

_SERVER_PACKAGE = '''\
"""The server of the environment, which needs hone-rl."""

from .${name}_environment import HoneEnvironment

__all__ = ["HoneEnvironment"]
'''

_TEMPLATES = {
    ".dockerignore": ".git\n.venv\n__pycache__\n*.pyc\n*.egg-info\nbuild\n",
    "README.md": _README,
    "__init__.py": _PACKAGE,
    "openenv.yaml": _MANIFEST,
    "pyproject.toml": _PYPROJECT,
    "server/Dockerfile": _DOCKERFILE,
    "server/__init__.py": _SERVER_PACKAGE,
    "server/app.py": _APP,
    f"server/{ENVIRONMENT}_environment.py": _ENVIRONMENT_FILE,
    "server/settings.py": _SETTINGS,
    "server/start": _START,
}
