"""Runs a command as `docker run` does with its default options, without a container engine. Needs root and libseccomp.

    container = Container(root, ["/srv/hone/hone", "doctor"], user=5917)
    container.process.wait()

Reproduced: namespaces, the 14 default capabilities (effective only for root), the default list of refused system calls,
a read-only /sys and cgroup file system, masked and read-only paths of /proc, /dev with standard nodes, and /dev/shm of
64 MB. Not reproduced: the AppArmor or SELinux profile, and the container's cgroup.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import errno
import json
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from fcntl import ioctl
from pathlib import Path
from typing import Any, ClassVar

CLONE = {"mnt": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "pid": 0x20000000, "net": 0x40000000}
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    1,
    2,
    4,
    8,
    32,
    4096,
    16384,
    1 << 18,
)
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38

# Numbers of <linux/capability.h>: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP,
# NET_BIND_SERVICE, NET_RAW, SYS_CHROOT, MKNOD, AUDIT_WRITE, SETFCAP.
DEFAULT_CAPABILITIES = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}
CAP_LAST = 40

MASKED = (
    *("/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
    *("/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats"),
    *("/sys/devices/virtual/powercap", "/sys/firmware"),
)
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")

# System calls that the default profile refuses with EPERM to a process without further capabilities.
REFUSED = " ".join(
    (
        "_sysctl acct add_key bpf chroot clock_settime create_module delete_module fanotify_init finit_module fsconfig",
        "fsmount fsopen fspick get_kernel_syms get_mempolicy init_module io_uring_enter io_uring_register",
        "io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie mbind migrate_pages mount",
        "mount_setattr move_mount move_pages nfsservctl open_by_handle_at open_tree pidfd_getfd perf_event_open",
        "pivot_root process_madvise query_module quotactl quotactl_fd reboot request_key set_mempolicy",
        "set_mempolicy_home_node setdomainname sethostname setns settimeofday swapoff swapon sysfs syslog umount2",
        "unshare uselib userfaultfd ustat vhangup vserver",
    )
).split()
NAMESPACE_FLAGS = 0x7E020000  # of clone
AF_ALG, AF_VSOCK = 38, 40

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> int:
    """A function of the C library; raises OSError."""
    result: int = getattr(libc, name)(*(one.encode() if isinstance(one, str) else one for one in arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}: {arguments}")
    return result


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    Path(target).mkdir(parents=True, exist_ok=True)
    call("mount", source, target, kind, ctypes.c_ulong(flags), options)


@dataclass
class Conditions:
    """What a container is started with. The defaults are Docker's."""

    root: str
    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)
    user: int = 0
    workdir: str = "/"
    binds: dict[str, str] = field(default_factory=dict)  # path in the container to path of the host
    read_only: list[str] = field(default_factory=list)  # those of `binds` that cannot be written
    capabilities: list[int] = field(default_factory=lambda: sorted(DEFAULT_CAPABILITIES))
    seccomp: str = "default"  # default, unconfined, or a profile: the text of Docker's --security-opt seccomp=FILE
    no_new_privileges: bool = False
    shm_mb: int = 64
    tmpfs: list[str] = field(default_factory=list)  # with Docker's options: no programs, no set-user-id
    masked: bool = True
    read_only_root: bool = False


class Comparison(ctypes.Structure):
    """scmp_arg_cmp of libseccomp."""

    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


class Filter:
    """A seccomp filter, made with libseccomp."""

    ALLOW = 0x7FFF0000
    OPERATIONS: ClassVar[dict[str, int]] = {
        name: n for n, name in enumerate(("NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ"), 1)
    }

    def __init__(self, default: int) -> None:
        self.library = ctypes.CDLL("libseccomp.so.2")
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.library.seccomp_init(ctypes.c_uint32(default)))
        self.default = default
        control_nnp = 3
        self.library.seccomp_attr_set(self.context, control_nnp, 0)

    @staticmethod
    def refuse(code: int) -> int:
        return 0x00050000 | code

    def add(self, action: int, name: str, comparisons: Sequence[Comparison] = ()) -> None:
        number = self.library.seccomp_syscall_resolve_name(name.encode())
        if number == -1 or action == self.default:  # -1: newer than this libseccomp
            return
        array = (Comparison * max(1, len(comparisons)))(*comparisons)
        code = self.library.seccomp_rule_add_array(
            self.context, ctypes.c_uint32(action), number, len(comparisons), array
        )
        if code not in (0, -errno.EDOM):  # EDOM: not a system call of this architecture
            raise OSError(-code, f"seccomp rule {name}: {os.strerror(-code)}")

    def load(self) -> None:
        code = self.library.seccomp_load(self.context)
        if code != 0:
            raise OSError(-code, f"seccomp_load: {os.strerror(-code)}")


def default_filter() -> Filter:
    made = Filter(Filter.ALLOW)
    for name in REFUSED:
        made.add(Filter.refuse(errno.EPERM), name)
    masked = Filter.OPERATIONS["MASKED_EQ"]
    for bit in range(32):
        if NAMESPACE_FLAGS >> bit & 1:
            set_bit = Comparison(0, masked, 1 << bit, 1 << bit)
            made.add(Filter.refuse(errno.EPERM), "clone", [set_bit])
    made.add(Filter.refuse(errno.ENOSYS), "clone3")
    for family in (AF_ALG, AF_VSOCK):
        made.add(Filter.refuse(errno.EPERM), "socket", [Comparison(0, Filter.OPERATIONS["EQ"], family, 0)])
    no_randomize = 0x40000
    made.add(Filter.refuse(errno.EPERM), "personality", [Comparison(0, masked, no_randomize, no_randomize)])
    return made


def filter_of_profile(text: str) -> Filter:
    """The filter of a profile in Docker's format, for a process without capabilities on x86-64."""
    profile = json.loads(text)

    def action_of(rule: dict[str, Any], key: str) -> int:
        code = rule.get("errnoRet", rule.get("defaultErrnoRet", errno.EPERM))
        return {"SCMP_ACT_ALLOW": Filter.ALLOW, "SCMP_ACT_ERRNO": Filter.refuse(code)}[rule[key]]

    made = Filter(action_of(profile, "defaultAction"))
    for rule in profile["syscalls"]:
        includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
        if includes.get("caps") or "amd64" not in includes.get("arches", ["amd64"]):
            continue
        if "amd64" in excludes.get("arches", []):
            continue
        comparisons = [
            Comparison(
                *(one["index"], Filter.OPERATIONS[one["op"].removeprefix("SCMP_CMP_")]),
                *(one["value"], one.get("valueTwo", 0)),
            )
            for one in rule.get("args") or []
        ]
        for name in rule["names"]:
            made.add(action_of(rule, "action"), name, comparisons)
    return made


def mount_root(conditions: Conditions) -> str:
    """An overlay over the root, whose changes are in memory, with what an engine mounts into it."""
    call("mount", "none", "/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None)
    base = tempfile.mkdtemp(prefix="container-")
    mount("tmpfs", base, "tmpfs", 0, "size=4g,mode=755")
    for name in ("upper", "work", "root"):
        (Path(base) / name).mkdir()
    root = f"{base}/root"
    layers = f"lowerdir={conditions.root},upperdir={base}/upper,workdir={base}/work"
    mount("overlay", root, "overlay", 0, layers)
    mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("tmpfs", f"{root}/dev", "tmpfs", MS_NOSUID, "mode=755,size=65536k")
    mount("devpts", f"{root}/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
    locked = MS_NOSUID | MS_NODEV | MS_NOEXEC
    mount("mqueue", f"{root}/dev/mqueue", "mqueue", locked)
    mount("shm", f"{root}/dev/shm", "tmpfs", locked, f"mode=1777,size={conditions.shm_mb}m")
    mount("sysfs", f"{root}/sys", "sysfs", locked | MS_RDONLY)
    mount("cgroup", f"{root}/sys/fs/cgroup", "cgroup2", locked | MS_RDONLY)
    for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9)):
        os.mknod(f"{root}/dev/{name}", 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        os.chmod(f"{root}/dev/{name}", 0o666)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target, f"{root}/dev/{name}")
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    for inside in conditions.tmpfs:
        mount("tmpfs", root + inside, "tmpfs", locked, "mode=1777")
    for inside, outside in conditions.binds.items():
        target = root + inside
        if Path(outside).is_dir():
            Path(target).mkdir(parents=True, exist_ok=True)
        else:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            Path(target).touch()
        call("mount", outside, target, None, ctypes.c_ulong(MS_BIND), None)
        if inside in conditions.read_only:
            call("mount", "none", target, None, ctypes.c_ulong(MS_BIND | MS_REMOUNT | MS_RDONLY), None)
    return root


def mask_paths() -> None:
    for path in MASKED:
        if Path(path).is_dir():
            call("mount", "tmpfs", path, "tmpfs", ctypes.c_ulong(MS_RDONLY), None)
        elif Path(path).exists():
            call("mount", "/dev/null", path, None, ctypes.c_ulong(MS_BIND), None)
    for path in READ_ONLY:
        if Path(path).exists():
            call("mount", path, path, None, ctypes.c_ulong(MS_BIND | MS_REC), None)
            flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC
            call("mount", "none", path, None, ctypes.c_ulong(flags), None)


def start_loopback() -> None:
    with socket.socket() as any_socket:
        siocsifflags, iff_up_running = 0x8914, 0x41
        ioctl(any_socket, siocsifflags, struct.pack("16sh14x", b"lo", iff_up_running))


def drop_and_exec(conditions: Conditions) -> None:
    """Limits, filter, capabilities, user, and the program. Ends the process."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard), min(524288, hard)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if conditions.no_new_privileges:
        call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if conditions.seccomp != "unconfined":
        made = default_filter() if conditions.seccomp == "default" else filter_of_profile(conditions.seccomp)
        made.load()
    for capability in range(CAP_LAST + 1):
        if capability not in conditions.capabilities:
            call("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setgid(conditions.user)
    os.setuid(conditions.user)
    call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # again: a change of the user clears it
    os.chdir(conditions.workdir)
    os.umask(0o022)
    for name in [name for name in os.environ if name not in conditions.env]:
        del os.environ[name]
    os.environ.update(conditions.env)
    os.execvp(conditions.argv[0], conditions.argv)


def wait_for(child: int) -> int:
    """Waits for the container's first process, forwards SIGTERM to it, and returns its exit status as a shell does."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda got, _: os.kill(child, got))
    while True:
        with contextlib.suppress(InterruptedError):
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            return status if status >= 0 else 128 - status


def create(conditions: Conditions, announce: int) -> int:
    """Starts the container; writes the process id of its first process to the descriptor `announce`."""
    call("unshare", sum(CLONE.values()))
    go, ready = os.pipe()
    child = os.fork()
    if child == 0:
        call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.close(ready)
        root = mount_root(conditions)
        start_loopback()
        os.chdir(root)
        call("syscall", 155, ".", ".")  # pivot_root
        call("umount2", ".", MNT_DETACH)
        os.chdir("/")
        if conditions.masked:
            mask_paths()
        if conditions.read_only_root:
            call("mount", "none", "/", None, ctypes.c_ulong(MS_REMOUNT | MS_RDONLY), None)
        call("sethostname", "container", 9)
        os.read(go, 1)
        os.close(go)
        os.close(announce)
        drop_and_exec(conditions)
    os.close(go)
    os.write(announce, f"{child}\n".encode())
    os.close(announce)
    os.close(ready)
    return wait_for(child)


def enter(pid: int, conditions: Conditions) -> int:
    """Runs a command in a container that was started before, as `docker exec` does."""
    joined = os.pidfd_open(pid)
    call("setns", joined, sum(CLONE.values()))
    os.close(joined)
    child = os.fork()
    if child == 0:
        call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        drop_and_exec(conditions)
    return wait_for(child)


class Container:
    """A container that runs until its first process ends."""

    def __init__(self, conditions: Conditions, **popen: Any) -> None:
        self.conditions = conditions
        reader, writer = os.pipe()
        specification = json.dumps(asdict(conditions))
        command = [sys.executable, __file__, "--announce", str(writer), specification]
        self.process = subprocess.Popen(command, pass_fds=[writer], **popen)
        os.close(writer)
        with os.fdopen(reader) as announced:
            line = announced.readline()
        if not line:
            self.process.wait()
            raise RuntimeError("the container did not start; its standard error has the reason")
        self.pid = int(line)

    def exec(self, *argv: str, timeout_s: float = 300, **changes: Any) -> subprocess.CompletedProcess[str]:
        specification = json.dumps({**asdict(self.conditions), "argv": argv, **changes})
        command = [sys.executable, __file__, "--enter", str(self.pid), specification]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s)

    def stop(self, timeout_s: float = 120) -> int:
        """`docker stop`: SIGTERM; returns the exit status."""
        self.process.terminate()
        return self.process.wait(timeout_s)

    def kill(self) -> None:
        """Ends the container: with its first process, the kernel ends all others."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self.process.wait()


def can_run() -> str:
    """Why containers cannot be made here; empty if they can."""
    if os.geteuid() != 0:
        return "not root"
    tried = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--net", "true"], capture_output=True, text=True)
    return tried.stderr.strip() if tried.returncode != 0 else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--announce", type=int, default=1)
    parser.add_argument("--enter", type=int)
    parser.add_argument("conditions", help="Conditions as JSON")
    given = parser.parse_args()
    conditions = Conditions(**json.loads(given.conditions))
    return enter(given.enter, conditions) if given.enter else create(conditions, given.announce)


if __name__ == "__main__":
    sys.exit(main())
