"""``python -m hone.fleet``: starts and ends hone servers on the nodes of a Ray cluster."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from hone.errors import HoneError


def _resources(text: str) -> dict[str, float]:
    """``CPU=8,GPU=1`` as a map."""
    pairs = [part.partition("=") for part in text.split(",")]
    try:
        return {name: float(amount) for name, _, amount in pairs}
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected NAME=AMOUNT,…") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m hone.fleet", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start a server on each of N nodes")
    up.add_argument("--nodes", type=int, required=True, metavar="N", help="number of servers")
    up.add_argument("-c", "--config", metavar="FILE", help="configuration, a path on each node")
    up.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    up.add_argument(
        "--hone", metavar="PATH", help="path of hone on each node (default: hone on the PATH here)"
    )
    up.add_argument(
        "--resources",
        type=_resources,
        default={"CPU": 1.0},
        metavar="LIST",
        help="what a server reserves in Ray (default: CPU=1)",
    )
    up.add_argument(
        "--journal",
        default="",
        metavar="DIR",
        help="folder of the servers' journals; made on each node",
    )
    up.add_argument("--port", type=int, default=0, help="port of each server (default: any)")
    up.add_argument(
        "--timeout", type=float, default=120, metavar="S", help="limit for the start (s)"
    )
    add = commands.add_parser(
        "add", help="start further servers, with the options of up, on nodes without a server"
    )
    add.add_argument("--nodes", type=int, required=True, metavar="N", help="number of new servers")
    add.add_argument(
        "--timeout", type=float, default=120, metavar="S", help="limit for the start (s)"
    )
    down = commands.add_parser("down", help="drain and end the servers")
    status = commands.add_parser("status", help="list the servers with state and open episodes")
    status.add_argument("--json", action="store_true", help="print a JSON list")
    key = commands.add_parser("key", help="write the client key, to reach one server")
    key.add_argument("--to", required=True, metavar="FILE", help="new file, of mode 0600")
    for command in (up, add, down, status, key):
        command.add_argument("--name", default="hone", help="name of the fleet (default: hone)")
    given = parser.parse_args(arguments)

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    try:
        from . import on_ray

        if given.command == "up":
            on_ray.up(
                given.nodes,
                name=given.name,
                config=given.config,
                settings=given.settings,
                hone=given.hone,
                resources=given.resources,
                journal=given.journal,
                port=given.port,
                timeout=given.timeout,
                on_progress=say,
            )
            print(f"ray://{given.name}")
        elif given.command == "add":
            on_ray.add(given.nodes, name=given.name, timeout=given.timeout, on_progress=say)
            print(f"{given.nodes} server{'s' * (given.nodes != 1)} added")
        elif given.command == "down":
            count = on_ray.down(given.name)
            print(f"{count} server{'s' * (count != 1)} ended")
        elif given.command == "key":
            on_ray.write_key(given.to, given.name)
        else:
            rows = on_ray.status(given.name)
            if given.json:
                print(json.dumps(rows))
            else:
                print(f"{'server':<30} {'state':<13} {'open episodes':>13}  web page")
                for row in rows:
                    shown = f"{row['endpoint']:<30} {row['state']:<13} {row['episodes']:>13}"
                    print(f"{shown}  {row['web'] or '-'}")
    except (HoneError, ImportError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, SystemExit):  # Ray raises SystemExit at SIGTERM
        done = " It has ended the servers that it started." * (given.command in ("up", "add"))
        print(f"{parser.prog}: interrupted.{done}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
