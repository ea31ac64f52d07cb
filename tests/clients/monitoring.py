"""PromQL expressions of the dashboard and the alert rules, and what a server's /metrics must have for them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "docs/operations/monitoring/dashboard.json"
ALERTS = ROOT / "docs/operations/monitoring/alerts.yaml"

# Labels and a metric that Prometheus adds to each target.
TARGET_LABELS = {"job", "instance"}
TARGET_METRICS = {"up"}
FUNCTIONS = {"rate", "increase", "resets", "min_over_time", "histogram_quantile", "sum", "max"}
KEYWORDS = {"by", "on", "group_left", "and", "or", "unless"}
SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
TOKEN = re.compile(
    r'\s*(?:(?P<name>[a-zA-Z_]\w*)|(?P<number>\d+(?:\.\d+)?)|(?P<text>"[^"]*")|(?P<range>\[(?:\d+[smhd]|\$__rate_interval)\])'
    r"|(?P<sign>==|!=|>=|<=|=~|[-+*/<>=(){},]))"
)


@dataclass
class Metrics:
    """Names of the samples in a text of Prometheus' format, with the values of their labels."""

    labels: dict[str, dict[str, set[str]]] = field(default_factory=dict)

    @staticmethod
    def parse(text: str) -> Metrics:
        found = Metrics()
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            labels = found.labels.setdefault(sample[1], {})
            for name, value in LABEL.findall(sample[2] or ""):
                labels.setdefault(name, set()).add(value)
        return found


def tokens(expression: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(expression.rstrip()):
        token = TOKEN.match(expression, at)
        if token is None:
            raise ValueError(f"unexpected text at {at}: {expression[at:]!r}")
        assert token.lastgroup is not None
        yield token.lastgroup, token[token.lastgroup]
        at = token.end()


def problems(expression: str, metrics: Metrics) -> list[str]:
    """Unknown metrics, labels and values of an expression, and brackets that do not match."""
    try:
        found = list(tokens(expression))
    except ValueError as error:
        return [str(error)]
    return [*brackets(found), *names(found, metrics)]


def brackets(found: list[tuple[str, str]]) -> list[str]:
    waiting: list[str] = []
    for _, text in found:
        if text in ("(", "{"):
            waiting.append({"(": ")", "{": "}"}[text])
        elif text in (")", "}") and (not waiting or waiting.pop() != text):
            return [f"unexpected {text!r}"]
    return [f"expected {waiting[-1]!r}"] if waiting else []


def names(found: list[tuple[str, str]], metrics: Metrics) -> list[str]:
    wrong: list[str] = []
    used: dict[str, dict[str, set[str]]] = {}
    grouped: set[str] = set()
    selected: dict[str, set[str]] | None = None  # labels of the metric whose matchers follow
    place = ""  # "by": in a list of labels; "match": in matchers
    for index, (kind, text) in enumerate(found):
        following = found[index + 1][1] if index + 1 < len(found) else ""
        if text == "{":
            place = "match"
            if selected is None:
                wrong.append("matchers without a metric")
        elif text in (")", "}"):
            place = ""
        elif kind == "name" and place == "match":
            if following not in ("=", "!=", "=~"):
                wrong.append(f"label {text}: expected a matcher, found {following!r}")
            if text in TARGET_LABELS or selected is None:
                continue
            value = found[index + 2][1].strip('"') if index + 2 < len(found) else ""
            if text not in selected:
                wrong.append(f"unknown label {text}")
            elif following == "=" and value not in selected[text]:
                wrong.append(f"{text}: no sample has the value {value!r}; found {sorted(selected[text])}")
        elif kind == "name" and place == "by":
            grouped.add(text)
        elif kind == "name" and text in KEYWORDS:
            place = "by" if text in ("by", "on") and following == "(" else ""
        elif (kind == "name" and following == "(") or text in FUNCTIONS:
            if text not in FUNCTIONS:
                wrong.append(f"unknown function {text}")
        elif kind == "name":
            selected = metrics.labels.get(text)
            if selected is None and text not in TARGET_METRICS:
                wrong.append(f"unknown metric {text}")
            selected = selected if selected is not None else {}
            used[text] = selected
    if not used:
        wrong.append("no metric")
    known = TARGET_LABELS.union(*used.values())
    wrong += [f"by {label}: no metric of this expression has it" for label in sorted(grouped - known)]
    return wrong


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return found


def dashboard_expressions() -> list[tuple[str, str, str]]:
    """(panel, expression, legend) of each query."""
    return [
        (panel["title"], target["expr"], target["legendFormat"])
        for panel in panels()
        for target in panel.get("targets", [])
    ]
