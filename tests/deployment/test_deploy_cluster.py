"""The files for several machines: Compose and Kubernetes, each held against the settings, the commands and itself."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.__main__ import build_parser
from server.operating.settings_checks import check_settings
from server.settings import SETTINGS_TABLE, SettingError, Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.cluster.yaml").read_text())
SERVICES = COMPOSE["services"]
FOLDER = DEPLOY / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
OBJECTS: list[dict[str, Any]] = [
    document for name in KUSTOMIZATION["resources"] for document in yaml.safe_load_all((FOLDER / name).read_text())
]
PODS = [row for row in OBJECTS if row["kind"] in ("Deployment", "StatefulSet")]
SAMPLE = {
    "DOMAIN": "g.example",
    "REDIS_PASSWORD": "r",
    "POSTGRES_PASSWORD": "p",
    "GRADBOX_SECRET": "s",
    "GRADBOX_QUEUE_KEY": "k",
}


def filled(text: str) -> str:
    """As Compose fills it with the sample."""
    return re.sub(r"\$\{(\w+)[^}]*\}", lambda found: SAMPLE[found[1]], text)


def settings_of(values: dict[str, str], worker: bool = False) -> Settings:
    """Raises SettingError where a server, or a worker, would not start with these."""
    variables = {name: value for name, value in values.items() if name != "REDIS_PASSWORD"}
    assert variables.keys() <= {row.environment_variable for row in SETTINGS_TABLE}
    settings = Settings(variables)
    check_settings(settings, worker)
    return settings


@pytest.mark.parametrize("name", ["web1", "web2", "worker"])
def test_the_servers_of_compose_start_and_share_what_they_have_to(name: str) -> None:
    worker = name == "worker"
    settings = settings_of({key: filled(value) for key, value in SERVICES[name]["environment"].items()}, worker)
    assert settings.sandbox == "require" and settings.secret == ("" if worker else "s"), (
        "no cookie is signed by a worker"
    )
    assert settings.queue_url == "redis://:r@redis:6379/0" and "redis" in SERVICES
    assert settings.database_url == "postgresql://gradbox:p@postgres/gradbox" and "postgres" in SERVICES
    assert SERVICES[name]["read_only"] is True and SERVICES[name]["cap_drop"] == ["ALL"]


def test_the_proxy_of_compose_finds_both_web_servers_and_is_trusted() -> None:
    caddy = SERVICES["caddy"]
    assert caddy["environment"]["UPSTREAMS"].split() == [f"{name}:8000" for name in SERVICES if name.startswith("web")]
    address = caddy["networks"]["front"]["ipv4_address"]
    assert SERVICES["web1"]["environment"]["GRADBOX_TRUSTED_PROXIES"] == address
    assert (DEPLOY / caddy["volumes"][0].split(":")[0]).is_file()


def test_workers_of_compose_reach_redis_and_postgresql_and_nothing_else() -> None:
    worker = SERVICES["worker"]
    assert worker["networks"] == ["back"] and COMPOSE["networks"]["back"] == {"internal": True}
    neighbours = {name for name, service in SERVICES.items() if "back" in service["networks"]}
    assert neighbours == {"web1", "web2", "worker", "redis", "postgres"}
    assert worker["deploy"]["replicas"] == 2 and "ports" not in worker
    build_parser().parse_args(worker["command"][3:])
    assert worker["command"][:3] == ["python", "-m", "server"]


def test_redis_keeps_what_waits() -> None:
    commands = (
        SERVICES["redis"]["command"],
        named("StatefulSet", "gradbox-redis")["spec"]["template"]["spec"]["containers"][0]["args"],
    )
    for command in commands:
        given = dict(zip(command[1::2], command[2::2], strict=True))
        assert given["--appendonly"] == "yes" and given["--maxmemory-policy"] == "noeviction" and given["--requirepass"]


def named(kind: str, name: str) -> dict[str, Any]:
    return next(row for row in OBJECTS if (row["kind"], row["metadata"]["name"]) == (kind, name))


def components(row: dict[str, Any]) -> Iterator[str]:
    """The values of every label selector by component within an object, wherever it stands."""
    for key, value in row.items():
        if key == "app.kubernetes.io/component":
            yield value
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from components(part)


def test_every_object_is_named_once_and_every_file_is_listed() -> None:
    names = [(row["kind"], row["metadata"]["name"]) for row in OBJECTS]
    assert len(set(names)) == len(names)
    assert {path.name for path in FOLDER.glob("*.yaml")} == {"kustomization.yaml", *KUSTOMIZATION["resources"]}


def test_every_selector_matches_existing_pods() -> None:
    there = {row["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"] for row in PODS}
    assert there == {"web", "worker", "redis"}
    asked = {component for row in OBJECTS for component in components(row)}
    assert asked == there | {"postgresql", "nobody"}, "the database is another's, and nobody answers at /metrics"
    for row in PODS:
        assert row["spec"]["selector"]["matchLabels"] == row["spec"]["template"]["metadata"]["labels"]


def test_the_servers_of_kubernetes_start_with_what_they_are_given() -> None:
    given = {**named("ConfigMap", "gradbox")["data"], **named("Secret", "gradbox")["stringData"]}
    settings = settings_of(given)
    assert settings.sandbox == "require" and settings.secret
    assert named("Service", settings.queue_url.rpartition("@")[2].partition(":")[0])["spec"]["clusterIP"] == "None"
    assert {value for name, value in given.items() if re.search("SECRET|PASSWORD|KEY", name)} == {"replace-me"}
    for name in ("gradbox-web", "gradbox-worker"):
        pod = named("Deployment", name)["spec"]["template"]["spec"]
        assert pod["enableServiceLinks"] is False, "else the environment has GRADBOX_PORT and the like"
        container = pod["containers"][0]
        assert {"configMapRef": {"name": "gradbox"}} in container["envFrom"]
        assert ({"secretRef": {"name": "gradbox"}} in container["envFrom"]) == (name == "gradbox-web")
        for probe in ("readinessProbe", "livenessProbe"):
            if probe in container:
                host = container[probe]["httpGet"]["httpHeaders"][0]["value"]
                assert host in settings.hosts.split(",")
        if "args" in container:
            build_parser().parse_args(container["args"][3:])


def test_a_worker_is_given_no_secret_of_the_web_processes() -> None:
    container = named("Deployment", "gradbox-worker")["spec"]["template"]["spec"]["containers"][0]
    taken = {row["name"]: row["valueFrom"]["secretKeyRef"] for row in container["env"] if "valueFrom" in row}
    names = ("GRADBOX_QUEUE_URL", "GRADBOX_QUEUE_KEY", "DATABASE_URL")
    assert taken == {name: {"name": "gradbox", "key": name} for name in names}
    secret = named("Secret", "gradbox")["stringData"]
    given = {**named("ConfigMap", "gradbox")["data"], **{name: secret[name] for name in taken}}
    assert settings_of(given, worker=True).secret == ""
    with pytest.raises(SettingError, match="GRADBOX_SECRET"):
        settings_of(given)
    unit = (DEPLOY / "systemd/gradbox-worker@.service").read_text()
    assert "\nUnsetEnvironment=GRADBOX_SECRET GRADBOX_PASSWORD\n" in unit


@pytest.mark.parametrize("row", PODS, ids=lambda row: row["metadata"]["name"])
def test_a_pod_is_given_as_little_as_it_needs(row: dict[str, Any]) -> None:
    pod = row["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in pod["containers"]:
        rights = container["securityContext"]
        assert rights["allowPrivilegeEscalation"] is False and rights["readOnlyRootFilesystem"] is True
        assert rights["capabilities"] == {"drop": ["ALL"]} and container["resources"]["limits"]["memory"]
        volumes = {
            volume["name"]
            for volume in [
                *pod.get("volumes", []),
                *({"name": claim["metadata"]["name"]} for claim in row["spec"].get("volumeClaimTemplates", [])),
            ]
        }
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes


def test_a_worker_has_the_memory_of_its_programs_and_the_time_to_end_them() -> None:
    pod = named("Deployment", "gradbox-worker")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    settings = Settings({row["name"]: row["value"] for row in container["env"] if "value" in row})
    memory = int(container["resources"]["limits"]["memory"].removesuffix("Gi")) << 30
    assert memory >= 1_500_000_000 + settings.workers * settings.memory
    assert int(container["resources"]["requests"]["cpu"]) == settings.workers
    assert pod["terminationGracePeriodSeconds"] > 2 * settings.wall


def test_workers_reach_only_redis_postgresql_and_dns_and_accept_no_connection() -> None:
    policy = named("NetworkPolicy", "gradbox-worker")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"] and "ingress" not in policy
    assert [port["port"] for rule in policy["egress"] for port in rule["ports"]] == [6379, 5432, 53, 53]
    assert all(len(rule["to"]) == 1 and rule["to"][0] for rule in policy["egress"])
    redis = named("NetworkPolicy", "gradbox-redis")["spec"]
    assert sorted(components({"from": redis["ingress"][0]["from"]})) == ["web", "worker"] and "egress" not in redis


def test_workers_scale_by_an_existing_metric() -> None:
    scaler = named("HorizontalPodAutoscaler", "gradbox-worker")["spec"]
    assert named("Deployment", scaler["scaleTargetRef"]["name"])
    metric = next(row for row in scaler["metrics"] if row["type"] == "External")["external"]["metric"]["name"]
    source = (DEPLOY.parent / "server/operating/metrics.py").read_text()
    assert f'"{metric.removeprefix("gradbox_")}"' in source
    assert scaler["minReplicas"] == named("Deployment", "gradbox-worker")["spec"]["replicas"]
    budgets = {row["metadata"]["name"] for row in OBJECTS if row["kind"] == "PodDisruptionBudget"}
    assert budgets == {"gradbox-web", "gradbox-worker"}


def test_visitors_reach_the_pages_and_not_the_metrics() -> None:
    paths = named("Ingress", "gradbox")["spec"]["rules"][0]["http"]["paths"]
    given = {row["path"]: row["backend"]["service"] for row in paths}
    assert given["/"]["name"] == "gradbox" and given["/metrics"]["name"] == given["/-"]["name"] == "gradbox-nobody"
    for service in given.values():
        ports = {port["name"] for port in named("Service", service["name"])["spec"]["ports"]}
        assert service["port"]["name"] in ports
