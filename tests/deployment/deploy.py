"""Asks the programs that read the files of deploy/ whether they can: `python -m tests.deployment.deploy`, or `make
deploy-check`.

Each check needs a program (systemd-analyze, caddy, promtool, docker with compose, kubectl, the Python package
kubernetes-validate); a check without its program is listed as not run. That of the unit's system calls also needs root:
it runs `doctor` as an ordinary user under the filter that the unit has.
"""

import argparse
import ctypes
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
NOBODY = "65534"
DOMAIN = {"DOMAIN": "gradbox.example.org"} | dict.fromkeys(
    ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "GRADBOX_SECRET"), "sample"
)

_ALLOW, _REFUSE_EPERM = 0x7FFF0000, 0x00050001


class NotHere(Exception):
    """The program that a check needs is not on this machine."""


def run(*words: str, environment: dict[str, str] | None = None, cwd: Path = ROOT) -> str:
    """What a program prints. Raises NotHere without it, and AssertionError with what it said where it fails."""
    if shutil.which(words[0]) is None:
        raise NotHere(words[0])
    process = subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, f"{' '.join(words)}\n{process.stdout[-2000:]}{process.stderr[-2000:]}"
    return process.stdout + process.stderr


def check_units() -> Iterator[str]:
    """systemd reads the units, and says how exposed a service they make."""
    with tempfile.TemporaryDirectory() as folder:
        for unit in sorted((DEPLOY / "systemd").glob("*.service")):
            copy = Path(folder) / unit.name.replace("@.", "@cpu.")
            copy.write_text(unit.read_text().replace("/opt/gradbox/.venv/bin/python", sys.executable))
            said = run("systemd-analyze", "verify", str(copy))
            assert unit.stem not in said, said
            exposure = run("systemd-analyze", "security", "--offline=true", str(copy)).strip().splitlines()[-1]
            yield f"{unit.name}: {exposure[2:].partition(':')[2].strip()}"


@cache
def system_calls(group: str) -> frozenset[str]:
    """The names of a group of systemd's, like @system-service."""
    names: set[str] = set()
    for line in run("systemd-analyze", "syscall-filter", group).splitlines()[1:]:
        word = line.strip()
        if word.startswith("@"):
            names |= system_calls(word)
        elif word and not word.startswith("#"):
            names.add(word)
    return frozenset(names)


def install_filter(names: frozenset[str]) -> None:
    """Allow the calling process these system calls; others fail with EPERM."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(_REFUSE_EPERM))
    for name in names:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            library.seccomp_rule_add(context, _ALLOW, number, 0)
    if library.seccomp_load(context) != 0:
        raise OSError("the filter can't be loaded")


def check_filter() -> Iterator[str]:
    """Every layer of confinement works for an ordinary user under the unit's filter of system calls."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise NotHere("root and setpriv")
    rows = re.findall(r"^SystemCallFilter=(.*)$", (DEPLOY / "systemd/gradbox.service").read_text(), re.M)
    words = " ".join(rows).split()
    names = frozenset[str]().union(*(system_calls(word) if word[0] == "@" else {word} for word in words))
    # an interpreter below /root is for root alone; that right ends with the confinement of a child
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    user += [
        "--inh-caps=-all,+dac_read_search",
        "--ambient-caps=-all,+dac_read_search",
        "--bounding-set=-all,+dac_read_search",
    ]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        settings = {"GRADBOX_SANDBOX": "require", "GRADBOX_DATA": f"{folder}/data", "GRADBOX_GPU": "0"}
        page = subprocess.run(
            [*user, sys.executable, "-m", "server", "doctor"],
            cwd=ROOT, env={**os.environ, **settings, "PYTHONDONTWRITEBYTECODE": "1", "HOME": folder},
            capture_output=True, text=True, timeout=300, check=False, preexec_fn=lambda: install_filter(names),
        )  # fmt: skip
    layers = re.findall(r"^. layer (\w+) +(.*)$", page.stdout, re.M)
    missing = [layer for layer, state in layers if state != "active" and layer != "uid"]
    assert layers and not missing, f"{missing}\n{page.stdout[-3000:]}{page.stderr[-2000:]}"
    assert re.search(r"^  a small program ", page.stdout, re.M) and re.search(r"^  pictures ", page.stdout, re.M), (
        page.stdout
    )
    yield f"{len(names)} system calls: {len(layers) - 1} layers active, a program runs, a picture is drawn"


def check_users() -> Iterator[str]:
    """systemd reads the files of users and folders, in a root of their own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "etc").mkdir()
        run("systemd-sysusers", f"--root={folder}", str(DEPLOY / "systemd/gradbox.sysusers"))
        run("systemd-tmpfiles", f"--root={folder}", "--create", str(DEPLOY / "systemd/gradbox.tmpfiles"))
        made = [path for path in ("etc/gradbox", "var/lib/gradbox") if (Path(folder) / path).is_dir()]
        assert len(made) == 2 and "gradbox:" in (Path(folder) / "etc/passwd").read_text()
        yield "the user and two folders"


def check_caddy() -> Iterator[str]:
    environment = {**DOMAIN, "UPSTREAMS": "web1:8000 web2:8000"}
    run("caddy", "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile"), environment=environment)
    yield "Caddyfile"


def check_prometheus() -> Iterator[str]:
    yield run("promtool", "check", "config", str(DEPLOY / "prometheus/prometheus.yml")).strip().splitlines()[-1].strip()
    yield run("promtool", "test", "rules", str(ROOT / "tests/deployment/alerts.yml")).strip().splitlines()[-1].strip()


def check_compose() -> Iterator[str]:
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode:
        raise NotHere("docker compose")
    for files in ([ROOT / "compose.yaml", DEPLOY / "compose.tls.yaml"], [DEPLOY / "compose.cluster.yaml"]):
        if all(file.exists() for file in files):
            options = [option for file in files for option in ("-f", str(file))]
            run("docker", "compose", *options, "config", "--quiet", environment=DOMAIN)
            yield " and ".join(file.name for file in files)
    usual, with_gpu = compose_services(), compose_services("--profile", "gpu")
    assert usual.keys() == {"gradbox"} and with_gpu.keys() == {"gradbox", "gpu"}, (usual.keys(), with_gpu.keys())
    gpu = with_gpu["gpu"]
    assert gpu["build"]["args"] == {"PIP_INDEX_URL": "", "TORCH_BUILD": "cuda", "TORCH_INDEX": ""}, gpu["build"]
    assert gpu["environment"]["GRADBOX_GPU"] == "1" and int(gpu["mem_limit"]) == 12 << 30 and gpu["pids_limit"] == 1024
    device = {"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}
    assert gpu["deploy"]["resources"]["reservations"]["devices"] == [device], gpu["deploy"]
    assert gpu["volumes"] == usual["gradbox"]["volumes"] and gpu["ports"] != usual["gradbox"]["ports"]
    other = compose_services("--profile", "gpu", CUDA_BUILD="cu126", TORCH_INDEX="http://mirror.example.org/cpu")
    assert [other[name]["build"]["args"].get("TORCH_BUILD") for name in ("gradbox", "gpu")] == [None, "cu126"]
    assert [other[name]["build"]["args"]["TORCH_INDEX"] for name in ("gradbox", "gpu")] == [
        "http://mirror.example.org/cpu",
        "",
    ]
    yield "profile gpu: a second server, built for CUDA, with one GPU and limits of its own, on the same volume"


def compose_services(*options: str, **variables: str) -> dict[str, Any]:
    """The services that compose.yaml starts with these options, by name, as Compose itself reads them."""
    unset = dict.fromkeys(("PIP_INDEX_URL", "TORCH_INDEX", "CUDA_INDEX", "CUDA_BUILD", "COMPOSE_PROFILES"), "")
    words = ("docker", "compose", "-f", str(ROOT / "compose.yaml"), *options, "config", "--format=json")
    said = run(*words, environment={**DOMAIN, **unset, **variables})
    services: dict[str, Any] = json.loads(said[said.index("{") : said.rindex("}") + 1])["services"]
    return services


def check_kubernetes() -> Iterator[str]:
    if importlib.util.find_spec("kubernetes_validate") is None:
        raise NotHere("the Python package kubernetes-validate")
    documents = list(yaml.safe_load_all(run("kubectl", "kustomize", str(DEPLOY / "kubernetes"))))
    checker = (
        "import kubernetes_validate, sys, yaml\n"
        "for document in yaml.safe_load_all(sys.stdin):\n"
        "    if '.' not in document['apiVersion'].split('/')[0] or 'k8s.io' in document['apiVersion']:\n"
        "        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)\n"
    )
    subprocess.run(
        [sys.executable, "-c", checker], input=yaml.safe_dump_all(documents), text=True, check=True, timeout=300
    )
    yield f"{len(documents)} objects: {', '.join(sorted({document['kind'] for document in documents}))}"


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "units": check_units,
    "system calls": check_filter,
    "users": check_users,
    "caddy": check_caddy,
    "prometheus": check_prometheus,
    "compose": check_compose,
    "kubernetes": check_kubernetes,
}


def main(names: list[str]) -> int:
    """The exit status: 1 where a check failed."""
    failed = 0
    for name in names or CHECKS:
        try:
            for line in CHECKS[name]():
                print(f"held     {name}: {line}", flush=True)
        except NotHere as error:
            print(f"not run  {name}: {error} is not here", flush=True)
        except (AssertionError, subprocess.SubprocessError) as error:
            failed = 1
            print(f"failed   {name}: {error}", flush=True)
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        "python -m tests.deployment.deploy", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("checks", nargs="*", choices=[*CHECKS, []], metavar="CHECK", help=f"of {', '.join(CHECKS)}")
    sys.exit(main(parser.parse_args().checks))
