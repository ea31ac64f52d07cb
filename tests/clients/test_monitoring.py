"""Files for operation: dashboard and alert rules against a real server, and the form of all YAML and JSON files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import hone
import pytest
import yaml

import monitoring
from monitoring import ALERTS, DASHBOARD, ROOT, Metrics
from servers import RealServer
from test_journal import FAST, WRONG
from test_operations import get

# A submission that a defence catches.
EXITS = """#include <cstdint>
#include <cstdlib>
extern "C" void add_relu(const float*, const float*, float*, int64_t) { std::_Exit(0); }
"""
# Counters of events that a test cannot cause on a healthy machine: metric, label, and a value of it.
ABSENT_WHILE_HEALTHY = {"hone_faults_total": {"code": {"unavailable"}}}


@pytest.mark.real
def test_each_metric_and_label_of_dashboard_and_alerts_exists(tmp_path: Path) -> None:
    server = RealServer(tmp_path / "serve.log", 0, "--web", "0", "--set", f"journal.path={tmp_path / 'run.db'}")
    try:
        with hone.connect(server.endpoint, name="watched") as client:
            episode = client.reset("add_relu").episode
            for source in (WRONG, FAST, EXITS):
                episode.step(source)
            with pytest.raises(hone.NotFound):
                client.reset("no_such_task")
            metrics = Metrics.parse(get(server, "/metrics")[1])
    finally:
        server.stop()
    for name, labels in ABSENT_WHILE_HEALTHY.items():
        assert name not in metrics.labels, f"{name} exists now: remove it from ABSENT_WHILE_HEALTHY"
        metrics.labels[name] = labels
    wrong = [
        f"{title}: {expression}: {problem}"
        for title, expression, _ in monitoring.dashboard_expressions()
        for problem in monitoring.problems(expression, metrics)
    ]
    wrong += [
        f"{rule['alert']}: {rule['expr']}: {problem}"
        for rule in monitoring.rules()
        for problem in monitoring.problems(rule["expr"], metrics)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('rate(hone_x_total{verb="step"}[5m])', []),
        ("sum by (verb, instance) (increase(hone_x_total[1h])) > 0.5 and up == 1", []),
        ("rate(hone_y_total[5m])", ["unknown metric hone_y_total"]),
        ("sum by (task) (hone_x_total)", ["by task: no metric of this expression has it"]),
        ('hone_x_total{task="a"}', ["unknown label task"]),
        ('hone_x_total{verb="steps"}', ["verb: no sample has the value 'steps'; found ['step']"]),
        ("rates(hone_x_total[5m])", ["unknown function rates"]),
        ("sum(hone_x_total", ["expected ')'"]),
        ("sum(hone_x_total))", ["unexpected ')'"]),
        ("hone_x_total[5 minutes]", ["unexpected text at 12: '[5 minutes]'"]),
        ("1 > 0", ["no metric"]),
    ],
)
def test_an_expression_with_an_error_is_reported(expression: str, expected: list[str]) -> None:
    metrics = Metrics.parse('# HELP hone_x_total Steps.\n# TYPE hone_x_total counter\nhone_x_total{verb="step"} 3\n')
    assert monitoring.problems(expression, metrics) == expected


def test_the_dashboard_can_be_imported() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    (variable,) = dashboard["templating"]["list"]
    assert (variable["name"], variable["type"], variable["query"]) == ("datasource", "datasource", "prometheus")
    panels = monitoring.panels()
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, f"{panel['title']} overlaps another panel"
        taken |= cells
        if panel["type"] != "row":
            assert panel["description"], panel["title"]
            assert panel["targets"], panel["title"]
            sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
            assert all(source == {"type": "prometheus", "uid": "${datasource}"} for source in sources)
    for title, expression, legend in monitoring.dashboard_expressions():
        for label in re.findall(r"\{\{(\w+)\}\}", legend):
            grouped = re.search(r"by \(([^)]*)\)", expression)
            assert grouped is None or label in grouped[1], f"{title}: {legend}: not in {expression}"


def test_each_alert_is_explained() -> None:
    page = (ALERTS.parent / "README.md").read_text()
    names = [rule["alert"] for rule in monitoring.rules()]
    assert len(set(names)) == len(names)
    assert re.findall(r"^\| `(Hone\w+)` \|", page, re.MULTILINE) == names
    for rule in monitoring.rules():
        assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}, rule["alert"]
        assert rule["labels"]["severity"] in ("critical", "warning"), rule["alert"]
        assert rule["annotations"].keys() == {"summary", "description", "action"}, rule["alert"]


def test_promtool_accepts_rules_and_queries(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool; Debian's package prometheus has it")
    queries: list[dict[str, Any]] = [
        {"record": f"hone:query_{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, (_, expression, _) in enumerate(monitoring.dashboard_expressions())
    ]
    recorded = tmp_path / "queries.yaml"
    recorded.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": queries}]}))
    checked = subprocess.run([promtool, "check", "rules", ALERTS, recorded], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"{len(monitoring.rules())} rules found" in checked.stdout
    assert f"{len(queries)} rules found" in checked.stdout


OPERATIONS = ROOT / "docs/operations"
CONTAINER = OPERATIONS / "container"


class StrictLoader(yaml.SafeLoader):
    """Refuses a key that a map has twice; YAML's loader keeps the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(set(keys)) == len(keys), f"{node.start_mark}: a key is there twice: {keys}"
        return super().construct_mapping(node, deep)


def load_all(path: Path) -> list[Any]:
    return list(yaml.load_all(path.read_text(), StrictLoader))


def test_each_yaml_and_json_file_is_valid() -> None:
    files = [path for path in OPERATIONS.rglob("*") if path.suffix in (".yaml", ".json")]
    assert len(files) >= 8
    for path in files:
        text = path.read_text()
        assert "\t" not in text, path.name
        assert text.endswith("\n"), path.name
        assert json.loads(text) if path.suffix == ".json" else all(load_all(path)), path.name
    with pytest.raises(AssertionError, match="a key is there twice"):
        yaml.load("{a: 1, a: 2}", StrictLoader)


def test_compose_mounts_files_that_exist() -> None:
    (compose,) = load_all(CONTAINER / "compose.yaml")
    services = compose["services"]
    assert (CONTAINER / services["hone"]["build"]).resolve() == ROOT
    for name, service in services.items():
        for mount in service["volumes"]:
            source = mount.split(":")[0]
            exists = (CONTAINER / source).is_file() if source.startswith(".") else source in compose["volumes"]
            assert exists, f"{name}: {mount}"
    (prometheus,) = load_all(CONTAINER / "prometheus.yaml")
    (job,) = prometheus["scrape_configs"]
    assert job["job_name"] == "hone"  # the alert HoneDown selects it
    (server,) = load_all(CONTAINER / "server.yaml")
    assert job["static_configs"][0]["targets"] == [f"127.0.0.1:{server['web']['listen']}"]


def test_kubernetes_refers_to_what_it_defines() -> None:
    config, service, stateful = load_all(CONTAINER / "kubernetes.yaml")
    spec = stateful["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    volumes = {volume["name"] for volume in spec["volumes"]}
    volumes |= {claim["metadata"]["name"] for claim in stateful["spec"]["volumeClaimTemplates"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    assert {port["name"] for port in service["spec"]["ports"]} == {port["name"] for port in container["ports"]}
    assert service["spec"]["selector"] == stateful["spec"]["template"]["metadata"]["labels"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == 1
    drain = yaml.safe_load(config["data"]["server.yaml"])["server"]["drain_s"]
    assert spec["terminationGracePeriodSeconds"] > drain
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()


@pytest.mark.real
def test_hone_accepts_the_configurations_and_the_options_of_probes(tmp_path: Path) -> None:
    binary = os.environ["HONE_BINARY"]
    config, _, stateful = load_all(CONTAINER / "kubernetes.yaml")
    (tmp_path / "kubernetes.yaml").write_text(config["data"]["server.yaml"])
    for path in (tmp_path / "kubernetes.yaml", CONTAINER / "server.yaml"):
        ran = subprocess.run([binary, "config", path], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
    (container,) = stateful["spec"]["template"]["spec"]["containers"]
    ready = container["readinessProbe"]["exec"]["command"]
    ran = subprocess.run([binary, *ready[1:]], capture_output=True, text=True)
    assert "/var/lib/hone/monitor.key" in ran.stderr, ran.stderr  # the options are known, the key is not there
    alive = container["livenessProbe"]["exec"]["command"]
    assert alive == ["sh", "-c", f"{' '.join(ready)}; test $? -le 1"]
    checked = subprocess.run(["sh", "-c", alive[2].replace("hone", binary, 1)], capture_output=True, text=True)
    assert checked.returncode == 1, checked.stderr  # 2: no key
