"""Reads a Dockerfile and builds its stages in folders, with chroot instead of a container engine."""

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Stage:
    """One FROM and the instructions up to the next one."""

    base: str
    name: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def all_of(self, keyword: str) -> list[str]:
        return [text for found, text in self.instructions if found == keyword]


@dataclass
class Image:
    """What the final stage says about a container's start."""

    root: str
    env: dict[str, str] = field(
        default_factory=lambda: {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    )
    user: str = "0:0"
    workdir: str = "/"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @staticmethod
    def load(path: Path) -> "Image":
        return Image(**json.loads(path.read_text()))


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Each instruction with its arguments; comments are left out and continued lines are joined."""
    line = ""
    for part in text.split("\n"):
        if part.lstrip().startswith("#"):
            continue
        line += part.removesuffix("\\")
        if part.endswith("\\"):
            continue
        if line.strip():
            keyword, _, rest = line.strip().partition(" ")
            yield keyword.upper(), rest.strip()
        line = ""


def stages(text: str) -> list[Stage]:
    """The stages, with the defaults of the ARGs before the first FROM."""
    found: list[Stage] = []
    values: dict[str, str] = {}
    for keyword, rest in instructions(text):
        if keyword == "FROM":
            base, *name = shlex.split(rest.replace(" AS ", " as "))
            base = re.sub(r"\$\{?(\w+)\}?", lambda use: values[use[1]], base)
            found.append(Stage(base, name[1] if name else ""))
        elif found:
            found[-1].instructions.append((keyword, rest))
        elif keyword == "ARG":
            name_of, _, default = rest.partition("=")
            values[name_of] = default
        else:
            raise ValueError(f"{keyword}: expected ARG or FROM before the first stage")
    return found


def ignored(path: str, patterns: list[str]) -> bool:
    """Whether .dockerignore leaves out this path of the build context, or a folder above it."""
    parts = path.split("/")
    for pattern in patterns:
        bare = pattern.removeprefix("**/")
        for depth in range(1, len(parts) + 1):
            if fnmatch.fnmatchcase("/".join(parts[:depth]), pattern):
                return True
            if bare != pattern and fnmatch.fnmatchcase(parts[depth - 1], bare):
                return True
    return False


def ignore_patterns(context: Path) -> list[str]:
    lines = (context / ".dockerignore").read_text().split("\n")
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def copy_context(context: Path, source: str, target: Path) -> None:
    """COPY from the build context, without what .dockerignore names."""
    patterns = ignore_patterns(context)
    start = context / source
    if start.is_file():
        if ignored(source, patterns):
            raise ValueError(f"COPY {source}: .dockerignore leaves it out")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(start, target)
        return

    def leave_out(folder: str, names: list[str]) -> list[str]:
        relative = os.path.relpath(folder, context)
        prefix = "" if relative == "." else relative + "/"
        return [name for name in names if ignored(prefix + name, patterns)]

    shutil.copytree(start, target, symlinks=True, ignore=leave_out, dirs_exist_ok=True)


def run_in(root: Path, image: Image, command: str, log: Path) -> None:
    """RUN: the shell command in the root, in mount and process namespaces of its own."""
    inner = (
        'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount -t sysfs -o ro sysfs "$0/sys" && '
        'exec chroot --userspec="$1" "$0" /bin/sh -c "cd \\"$2\\" && $3"'
    )
    arguments = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", inner]
    with log.open("ab") as output:
        output.write(f"RUN {command}\n".encode())
        output.flush()
        ran = subprocess.run(
            [*arguments, str(root), image.user, image.workdir, command],
            env={**image.env, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    if ran.returncode != 0:
        end = "\n".join(log.read_text(errors="replace").split("\n")[-25:])
        raise RuntimeError(f"RUN {command}\nexit status {ran.returncode}; log: {log}\n{end}")


def apply(stage: Stage, image: Image, context: Path, others: dict[str, Image], log: Path) -> None:
    """Does the instructions of one stage in `image.root`."""
    root = Path(image.root)
    for keyword, rest in stage.instructions:
        if keyword == "RUN":
            run_in(root, image, rest, log)
        elif keyword == "COPY":
            words = shlex.split(rest)
            options = dict(word[2:].split("=", 1) for word in words if word.startswith("--"))
            source, target = [word for word in words if not word.startswith("--")]
            into = root / os.path.join(image.workdir, target).lstrip("/")
            if "from" in options:
                shutil.copytree(Path(others[options["from"]].root + source), into, symlinks=True, dirs_exist_ok=True)
            else:
                copy_context(context, source, into)
            if "chmod" in options:
                into.chmod(int(options["chmod"], 8))
        elif keyword == "WORKDIR":
            image.workdir = os.path.normpath(os.path.join(image.workdir, rest))
            (root / image.workdir.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif keyword == "ENV":
            name, _, value = rest.partition("=")
            image.env[name] = re.sub(r"\$\{?(\w+)\}?", lambda use: image.env.get(use[1], ""), value)
        elif keyword == "USER":
            image.user = rest
        elif keyword == "VOLUME":
            image.volumes.append(rest)
        elif keyword == "ENTRYPOINT":
            image.entrypoint = json.loads(rest)
        elif keyword == "CMD":
            image.command = json.loads(rest)
        elif keyword == "HEALTHCHECK":
            image.health = json.loads(rest[rest.index("CMD ") + 4 :])
        elif keyword != "EXPOSE":
            raise ValueError(f"{keyword}: this instruction is not supported here; add it to {Path(__file__).name}")


def build(context: Path, base: Path, folder: Path, bundle: Path | None = None) -> Image:
    """Builds all stages from the root file system in the tarball `base`; returns the last one.

    `bundle` stands for what the stage "build" makes.
    """
    made: dict[str, Image] = {}
    image = None
    for number, stage in enumerate(stages((context / "Dockerfile").read_text())):
        root = folder / (stage.name or f"stage{number}")
        if stage.name == "build" and bundle is not None:
            shutil.copytree(bundle, root / "bundle/hone", symlinks=True)
            made[stage.name] = Image(str(root))
            continue
        root.mkdir(parents=True)
        subprocess.run(["tar", "-C", str(root), "-xf", str(base)], check=True)
        # As Debian's images have it: packages are unpacked without a sync for each file.
        (root / "etc/dpkg/dpkg.cfg.d/unsafe-io").write_text("force-unsafe-io\n")
        for name in ("resolv.conf", "hosts"):  # an engine mounts these
            shutil.copy(f"/etc/{name}", root / "etc" / name)
        image = Image(str(root))
        apply(stage, image, context, made, folder / "build.log")
        made[stage.name] = image
    assert image is not None
    image.save(folder / "image.json")
    return image
