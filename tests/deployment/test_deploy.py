"""What deploy/ says, held against the settings, the metrics and the commands. `make deploy-check` asks the programs
that read it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from server.__main__ import build_parser
from server.app import create_app
from server.commands.settings_docs import settings_environment_file
from server.settings import SETTINGS_TABLE, Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
RULES: list[dict[str, Any]] = yaml.safe_load((DEPLOY / "prometheus/gradbox.rules.yml").read_text())["groups"][0][
    "rules"
]
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana/gradbox.json").read_text())
EXPRESSIONS = {rule["alert"]: rule["expr"] for rule in RULES} | {
    f"{panel['title']}, {target['refId']}": target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
}
SELECTOR = re.compile(r"\b((?:gradbox|process)_\w+)(?:\{([^}]*)\})?")
SCRAPED = {"instance", "job", "le"}
"""Labels that Prometheus adds, and that of a histogram's buckets."""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The labels of each sample that /metrics has, once there is one of each kind."""
    settings: dict[str, Any] = {"sandbox": "off", "gpu": False, "data": str(tmp_path_factory.mktemp("data"))}
    app = create_app(Settings({}, **settings), "tests.support.stand_in_recorder:prepare")
    app.state.services.gallery.scenarios = []
    metrics = app.state.services.metrics
    metrics.count_refused_run("busy")
    metrics.count_refused_save("full")
    with TestClient(app, base_url="http://127.0.0.1") as client:
        client.post("/api/runs", json={"source": "finish"})
        text = client.get("/metrics").text + client.get("/metrics").text
    known: dict[str, set[str]] = {}
    for row in re.finditer(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.M):
        known.setdefault(row[1], set()).update(re.findall(r'(\w+)="', row[2] or ""))
    for row in re.finditer(r"^# TYPE (\w+) counter$", text, re.M):
        known.setdefault(row[1], {"limit"} if "limits" in row[1] else set())
    return known


@pytest.mark.parametrize("name", list(EXPRESSIONS))
def test_every_metric_and_label_that_is_asked_for_exists(name: str, samples: dict[str, set[str]]) -> None:
    expression = EXPRESSIONS[name]
    found = SELECTOR.findall(expression)
    assert found or expression == 'up{job="gradbox"} == 0'
    for metric, selector in found:
        assert metric in samples, metric
        labels = {part.split("=")[0].strip(" !~") for part in re.findall(r'\w+\s*[!=]~?\s*"', selector)}
        assert labels <= samples[metric] | SCRAPED, (metric, labels)
    for group in re.findall(r"by \(([^)]*)\)", expression):
        known = set.union(SCRAPED, *(samples[metric] for metric, _ in found))
        assert {label.strip() for label in group.split(",")} <= known


def test_every_route_that_is_asked_for_exists() -> None:
    routes = {getattr(route, "path", "") for route in create_app(Settings({}, gpu=False)).state.routes}
    asked = re.findall(r'route=~"([^"]*)"', " ".join(EXPRESSIONS.values()))
    assert asked and {route for routes_asked in asked for route in routes_asked.split("|")} <= routes


def test_an_alert_says_what_is_wrong_where_and_how_urgent_it_is() -> None:
    for rule in RULES:
        assert rule["alert"].startswith("Gradbox") and rule["labels"]["severity"] in ("page", "ticket")
        assert set(rule["annotations"]) == {"summary", "description"}
        assert "{{" in rule["annotations"]["summary"] and rule["annotations"]["description"].endswith(".")
    assert len({rule["alert"] for rule in RULES}) == len(RULES)


def test_the_sample_of_settings_is_current_and_has_the_defaults() -> None:
    text = (DEPLOY / "gradbox.env").read_text()
    assert text == settings_environment_file(), "make settings"
    assert all(not line or line.startswith("#") for line in text.splitlines()), "nothing is in force by itself"
    table = text[text.index("# ---- ") :]
    given = dict(re.findall(r"^#([A-Z_]+)=(.*)$", table, re.M))
    assert list(given) == [row.environment_variable for row in SETTINGS_TABLE]
    assert Settings(given).changed_settings() == {}
    sample = dict(re.findall(r"^#   ([A-Z_]+)=(.*)$", text, re.M))
    assert set(Settings(sample).changed_settings()) == sample.keys()


def unit_rows(unit: Path) -> dict[str, list[str]]:
    """The values of each directive, in order."""
    rows: dict[str, list[str]] = {}
    for line in unit.read_text().splitlines():
        if line and line[0] not in "#[":
            name, _, value = line.partition("=")
            rows.setdefault(name, []).append(value)
    return rows


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_starts_a_command_that_exists_with_settings_that_exist(unit: Path) -> None:
    rows = unit_rows(unit)
    python, *words = rows["ExecStart"][0].replace("%i", "cpu").split()
    assert python == "/opt/gradbox/.venv/bin/python" and words[:2] == ["-m", "server"]
    build_parser().parse_args(words[2:])
    given = dict(pair.split("=", 1) for pair in " ".join(rows["Environment"]).split())
    assert {name for name in given if name.startswith("GRADBOX_")} <= {
        row.environment_variable for row in SETTINGS_TABLE
    }
    settings = Settings(given)
    assert settings.sandbox == "require"
    needed = 1_500_000_000 + settings.workers * settings.memory
    assert int(rows["MemoryMax"][0].removesuffix("G")) << 30 >= needed


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_restricts_nothing_that_the_confinement_of_programs_needs(unit: Path) -> None:
    rows = unit_rows(unit)
    calls = set(" ".join(rows["SystemCallFilter"]).split())
    assert {
        "@system-service",
        "seccomp",
        "landlock_create_ruleset",
        "landlock_add_rule",
        "landlock_restrict_self",
    } <= calls
    assert not any(call.startswith("~") for call in calls)
    assert rows["OOMPolicy"] == ["continue"], "a program that takes too much memory must not stop the server"
    assert "MemoryDenyWriteExecute" not in rows and "ProcSubset" not in rows
    assert rows["User"] == ["gradbox"] and rows["CapabilityBoundingSet"] == [""] and rows["NoNewPrivileges"] == ["yes"]
    for name in ("ProtectKernelTunables", "ProtectControlGroups", "RestrictNamespaces", "ProtectHome", "PrivateTmp"):
        assert rows[name] == ["yes"]


def test_the_user_and_folders_of_the_unit_are_made() -> None:
    user = unit_rows(DEPLOY / "systemd/gradbox.service")["User"][0]
    assert re.search(rf"^u +{user} ", (DEPLOY / "systemd/gradbox.sysusers").read_text(), re.M)
    folders = re.findall(r"^d +(\S+)", (DEPLOY / "systemd/gradbox.tmpfiles").read_text(), re.M)
    assert folders == ["/etc/gradbox", "/var/lib/gradbox"]


def settings_named(text: str) -> Iterator[str]:
    yield from re.findall(r"\b(?:GRADBOX_[A-Z_]+[A-Z]|DATABASE_URL)\b", text)


@pytest.mark.parametrize(
    "path", sorted(path for path in DEPLOY.rglob("*") if path.is_file()), ids=lambda path: path.name
)
def test_every_setting_that_is_named_exists(path: Path) -> None:
    assert set(settings_named(path.read_text())) <= {row.environment_variable for row in SETTINGS_TABLE}


def test_the_proxy_of_compose_is_the_one_that_the_server_trusts() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.tls.yaml").read_text())
    server, caddy = compose["services"]["gradbox"], compose["services"]["caddy"]
    address = caddy["networks"]["default"]["ipv4_address"]
    assert server["environment"]["GRADBOX_TRUSTED_PROXIES"] == address
    pool = compose["networks"]["default"]["ipam"]["config"][0]
    assert address.startswith("172.30.57.") and pool == {"subnet": "172.30.57.0/24", "ip_range": "172.30.57.128/25"}
    names = server["environment"]["GRADBOX_HOSTS"].split(",")
    assert names[0] == caddy["environment"]["DOMAIN"] == "${DOMAIN}"
    assert caddy["read_only"] is True and caddy["cap_drop"] == ["ALL"] and caddy["cap_add"] == ["NET_BIND_SERVICE"]
    mounted = caddy["volumes"][0].split(":")[0]
    assert (ROOT / mounted).is_file(), "from the folder of the first file, compose.yaml"
