#!/usr/bin/env python3
"""Builds the Dockerfile's stages in folders and runs the image as `docker run` does, without a container engine.

Needs root, libseccomp, Debian's mmdebstrap or debootstrap, and tests/clients/run --prepare (the Python client).
The build stage runs scripts/bundle, which compiles all of hone. docs/operations/container/README.md says what is
reproduced.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dockerfile
from default_conditions import DEFAULT_CAPABILITIES, Conditions, Container, can_run

ROOT = Path(__file__).resolve().parents[2]
CAP_SYS_PTRACE, CAP_SYS_ADMIN = 19, 21
PLAY = """
import sys, hone
with hone.connect("tcp://127.0.0.1:5917", key=sys.argv[1]) as client:
    step = client.reset("add_relu").episode.step(open(sys.argv[2]).read())
    print(step.info["verdict"]["outcome"], step.reward_valid)
"""


def make_base(tarball: Path) -> None:
    """A Debian 12 root file system like the image debian:12-slim."""
    if shutil.which("mmdebstrap"):
        subprocess.run(["mmdebstrap", "--mode=root", "--variant=minbase", "bookworm", str(tarball)], check=True)
        return
    if not shutil.which("debootstrap"):
        sys.exit("found neither mmdebstrap nor debootstrap: apt-get install mmdebstrap, or pass --base TARBALL")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", folder], check=True)
        subprocess.run(["tar", "-C", folder, "-cf", str(tarball), "."], check=True)


class Volume:
    """A folder that is the volume /var/lib/hone, owned by the image's user, as an engine makes it from the image."""

    def __init__(self, folder: Path, user: int) -> None:
        folder.mkdir(mode=0o700)
        os.chown(folder, user, user)
        self.folder = folder


def conditions_of(image: dockerfile.Image, argv: list[str], volume: Volume | None, **changes: object) -> Conditions:
    made = Conditions(
        root=image.root,
        argv=argv,
        env=image.env,
        user=int(image.user.split(":")[0]),
        workdir=image.workdir,
        binds={} if volume is None else {image.volumes[0]: str(volume.folder)},
    )
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@contextlib.contextmanager
def serving(image: dockerfile.Image, volume: Volume, log: Path, **changes: object) -> Iterator[Container]:
    """The image with its own entry point and command; yields once its health check passes."""
    with log.open("ab") as output:
        started = conditions_of(image, [*image.entrypoint, *image.command], volume, **changes)
        container = Container(started, stdout=output, stderr=output)
    try:
        until = time.monotonic() + 300
        while (checked := container.exec(*image.health)).returncode != 0:
            if container.process.poll() is not None or time.monotonic() > until:
                sys.exit(f"health check: exit status {checked.returncode}: {checked.stderr}\n{log.read_text()}")
            time.sleep(0.5)
        yield container
    finally:
        container.kill()


def expect(what: str, found: str, test: Callable[[str], bool]) -> None:
    if not test(found):
        sys.exit(f"failed: {what}: found {found!r}")
    print(f"ok    {what}: {found.strip()}", flush=True)


def doctor(image: dockerfile.Image, **changes: object) -> dict[str, str]:
    """What `hone doctor` finds: each line's name and text."""
    changes.setdefault("workdir", "/")
    ran = Container(
        conditions_of(image, ["hone", "doctor", "--json"], None, **changes), stdout=subprocess.PIPE, text=True
    )
    output, _ = ran.process.communicate(timeout=300)
    return {one["what"]: one["found"] for one in json.loads(output)["findings"]}


def test_image(image: dockerfile.Image, folder: Path, **changes: object) -> None:
    """Doctor, start, health, an episode over TCP with a key, stop, and the journal that stays."""
    found = doctor(image, **changes)
    expect("isolation", found["isolation"], lambda text: text.startswith("filtered"))
    expect("freezer", found["freezer"], lambda text: text == "ptrace")
    expect("jails", found["jails"], lambda text: "a program ran" in text)
    volume = Volume(folder / "volume", int(image.user.split(":")[0]))
    log = folder / "serve.log"
    keys = ["--keys", "/var/lib/hone/keys", "--out", "/var/lib/hone/trainer.key"]
    with serving(image, volume, log, **changes) as container:
        expect("health check", " ".join(image.health), lambda _: True)
        made = container.exec("hone", "keys", "new", "trainer", *keys)
        expect("key of a trainer", made.stdout + made.stderr, lambda _: made.returncode == 0)
        # Its outcome does not depend on the speed of the machine: it is not timed.
        golden = "envs/kernel_refine/tasks/add_relu/golden/demo_1_wrong.cpp"
        client = ["nsenter", "--net", "--target", str(container.pid), str(ROOT / "build/venv/bin/python")]
        played = subprocess.run(
            [*client, "-c", PLAY, str(volume.folder / "trainer.key"), str(ROOT / golden)],
            capture_output=True,
            text=True,
            timeout=600,
        )
        expect("one episode over TCP", played.stdout + played.stderr, lambda text: text == "wrong True\n")
        fused = "/srv/hone/share/tasks/add_relu/golden/demo_4_fused.cpp"
        evaluated = container.exec("hone", "eval", "add_relu", fused, "--set", "evaluate.max_interval=0", timeout_s=600)
        expect("hone eval in the container", evaluated.stdout.split("\n")[1], lambda text: " correct " in text)
        expect("docker stop", str(container.stop()), lambda status: status == "0")
    expect("log", log.read_text().strip().split("\n")[-1], lambda text: json.loads(text)["level"] == "info")
    checked = subprocess.run(["ls", str(volume.folder)], capture_output=True, text=True).stdout.split()
    expect("files of the volume", " ".join(checked), lambda text: "run.db" in text and "monitor.key" in text)
    with serving(image, volume, log, **changes) as container:
        episodes = container.exec("hone", "episodes", "--journal", "/var/lib/hone/run.db", "--json").stdout
        expect("episodes after a restart", str(episodes.count('"tasks/add_relu"')), lambda text: text != "0")


# Options of `docker run`, and what reproduces them.
LEVELS: dict[str, dict[str, object]] = {
    "none": {},
    "--security-opt no-new-privileges": {"no_new_privileges": True},
    "--read-only --tmpfs /tmp": {"read_only_root": True, "tmpfs": ["/tmp"]},
    "--user 0": {"user": 0},
    "--user 0 --cap-add SYS_PTRACE": {"user": 0, "capabilities": sorted({*DEFAULT_CAPABILITIES, CAP_SYS_PTRACE})},
    "--security-opt seccomp=unconfined": {"seccomp": "unconfined"},
    "--user 0 --cap-add SYS_ADMIN --cap-add SYS_PTRACE --security-opt seccomp=unconfined": {
        "user": 0,
        "seccomp": "unconfined",
        "capabilities": sorted({*DEFAULT_CAPABILITIES, CAP_SYS_PTRACE, CAP_SYS_ADMIN}),
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", type=Path, help="folder of scripts/bundle, instead of the build stage")
    parser.add_argument("--base", type=Path, help="tarball of a Debian 12 root file system (default: made)")
    parser.add_argument("--image", type=Path, help="folder of an earlier run with --keep, instead of a build")
    parser.add_argument("--keep", type=Path, help="folder for the image; it is not removed")
    parser.add_argument("--seccomp", type=Path, help="profile in Docker's format (default: a built-in list)")
    parser.add_argument("--levels", action="store_true", help="also print the isolation level for other options")
    given = parser.parse_args()
    if reason := can_run():
        sys.exit(f"cannot make containers here: {reason}")
    with tempfile.TemporaryDirectory(prefix="hone-container-") as scratch:
        if given.image:
            image = dockerfile.Image.load(given.image / "image.json")
        else:
            base = given.base or Path(scratch) / "base.tar"
            if not given.base:
                make_base(base)
            image = dockerfile.build(ROOT, base, given.keep or Path(scratch) / "image", given.bundle)
        test_image(image, Path(scratch), seccomp=given.seccomp.read_text() if given.seccomp else "default")
        for options, changes in LEVELS.items() if given.levels else ():
            found = doctor(image, **changes)
            print(f"docker run {options}: {found['isolation']}; freezer {found['freezer']}", flush=True)
    print("the image builds, serves, judges and stops")


if __name__ == "__main__":
    main()
