"""What the image's files say, held against each other and the settings. `make image-check` builds and runs it."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.allowed_packages import allowed_modules
from server.http.documentation import DOCUMENTATION_FOLDER
from server.operating import healthcheck
from server.settings import SETTINGS_TABLE
from tests.deployment.container_engines import HARDENED
from tests.support.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
LAST = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
INDEX = re.compile(r"//[\w.-]*(pypi|pytorch|npmjs)[\w.-]*/+(simple|whl|npm)\b|//registry\.\w+")
SETTING_NAME = re.compile(r"\bGRADBOX_[A-Z_]+")


def lines(instruction: str, text: str = LAST) -> list[str]:
    return re.findall(rf"^{instruction} +(.*)$", text, re.M)


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "docs/docker.md"])
def test_every_setting_that_is_named_exists(name: str) -> None:
    variables = set(SETTING_NAME.findall((ROOT / name).read_text()))
    assert variables and variables <= {row.environment_variable for row in SETTINGS_TABLE}


def test_torch_is_the_one_of_the_makefile() -> None:
    made = re.search(r"^TORCH := (\S+)$", (ROOT / "Makefile").read_text(), re.M)
    assert made and f"TORCH={made[1]}" in lines("ARG", DOCKERFILE)


def test_no_file_has_an_index_of_packages_of_its_own() -> None:
    """What pip is configured with serves, or what the build is given: docs/decisions/0033."""
    command = [
        "git",
        "ls-files",
        "-z",
        "--",
        ".",
        ":!tests/language/test_thirty_pastes.py",
    ]  # people paste install lines
    tracked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    texts = {name: (ROOT / name).read_text(errors="replace") for name in tracked.split("\0") if (ROOT / name).is_file()}
    named = {name for name, text in texts.items() if INDEX.search(text)}
    assert len(texts) > 100 and not named
    assert {"PIP_INDEX_URL", "TORCH_INDEX"} <= set(lines("ARG", DOCKERFILE)), "they have a default"


def test_the_build_takes_every_argument_that_compose_gives() -> None:
    taken = {line.partition("=")[0] for line in lines("ARG", DOCKERFILE)}
    for name in ("gradbox", "gpu"):
        assert set(COMPOSE["services"][name]["build"]["args"]) <= taken


def test_the_documentation_is_built_in_a_stage_of_its_own_and_copied() -> None:
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.M)
    (docs,) = [stage for stage in stages if stage.startswith("python AS docs\n")]
    assert "-m server docs" in docs and "['docs']" in docs
    assert "--from=docs /app/var/docs var/docs" in lines("COPY")
    assert DOCUMENTATION_FOLDER == ROOT / "var/docs"


@pytest.mark.parametrize(
    ("argument", "modules"),
    [("", ["einops", "tqdm"]), ("pyyaml jinja2", ["einops", "tqdm", "yaml", "jinja2"])],
)
def test_what_the_argument_installs_programs_may_import(argument: str, modules: list[str]) -> None:
    setting = next(line for line in LAST.split() if line.startswith("GRADBOX_PACKAGES=")).partition("=")[2]
    command = ["sh", "-c", f'echo "{setting}"']
    said = subprocess.run(
        command, env={"PACKAGES": argument}, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert allowed_modules(said) == modules
    assert '"${PACKAGES:-auto}"' in DOCKERFILE, "the build imports them, so that a broken one ends it"


def test_what_runs_is_an_ordinary_user_with_one_place_to_write() -> None:
    assert lines("USER")[-1] == "10001:10001"
    assert lines("VOLUME") == ["/data"] and "GRADBOX_DATA=/data" in LAST
    assert "--host" in lines("CMD")[-1] and '"0.0.0.0"' in lines("CMD")[-1]
    assert len(lines("HEALTHCHECK")) == 1 and lines("EXPOSE") == ["8000"]


def test_the_last_stage_builds_nothing() -> None:
    commands = " ".join(lines("RUN"))
    assert not re.search(r"pip install|npm|compileall|curl|wget|gcc|build-essential", commands)
    assert all(line.startswith("--from=") or (ROOT / line.split()[0]).exists() for line in lines("COPY"))


def test_nothing_but_what_is_copied_is_sent_to_the_build() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    wanted = [line.split()[:-1] for line in lines("COPY", DOCKERFILE) if not line.startswith("--from=")]
    assert sent == {Path(name).parts[0] for names in wanted for name in names}
    assert (ROOT / ".dockerignore").read_text().startswith("*\n")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that the last stage has, and no others."""
    for line in lines("COPY"):
        *sources, target = [word for word in line.split() if not word.startswith("--from=")]
        source = ROOT / sources[0].removeprefix("/app/").removeprefix("/page/")
        if sources in (["/venv"], ["/app/var/docs"]):  # what other stages make
            continue
        assert source.exists(), source
        if source.is_dir():
            shutil.copytree(source, tmp_path / target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "static/dist/main.js").exists(), reason="the page is not built")
def test_a_server_runs_with_only_the_files_of_the_image(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "GRADBOX_DATA": str(tmp_path_factory.mktemp("data")), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = str(tree)
    command = [sys.executable, "-P", "-m", "server", "serve", "--port", str(port)]
    server = subprocess.Popen(command, cwd=tree, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: healthcheck.is_server_healthy(port, "localhost") or server.poll() is not None)
        assert server.poll() is None, server.stderr and server.stderr.read()
        for path in ("", "gallery", "static/dist/main.js", "static/dist/style.css", "api/schema"):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=60) as answer:
                assert answer.status == 200 and len(answer.read()) > 1000, path
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)
    assert not list(tree.rglob("__pycache__")), "something was written where the image can't be"


@pytest.fixture
def host() -> Iterator[int]:
    """The port of something that answers to one name."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if (self.path, self.headers["Host"]) == ("/healthz", "gradbox.example.org") else 421)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_the_health_check_asks_by_a_name_that_is_answered(host: int) -> None:
    def status(hosts: str, port: int) -> int:
        environment = {**os.environ, "GRADBOX_HOSTS": hosts}
        command = [sys.executable, "-m", "server.operating.healthcheck", str(port)]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode

    assert status(" gradbox.example.org, www.example.org", host) == 0
    assert status("www.example.org,gradbox.example.org", host) == 1
    with socket.socket() as not_listening:
        not_listening.bind(("127.0.0.1", 0))
        assert status("gradbox.example.org", not_listening.getsockname()[1]) == 1


def test_compose_starts_one_container_and_a_volume_by_default() -> None:
    usual = {name: service for name, service in COMPOSE["services"].items() if "profiles" not in service}
    assert list(usual) == ["gradbox"]
    assert usual["gradbox"]["volumes"] == [f"data:{lines('VOLUME')[0]}"] and "data" in COMPOSE["volumes"]
    assert {name: service["profiles"] for name, service in COMPOSE["services"].items() if name not in usual} == {
        "postgres": ["postgres"],
        "gpu": ["gpu"],
    }


@pytest.mark.parametrize("name", ["gradbox", "gpu"])
def test_a_server_is_given_as_little_as_it_needs(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"] and service["tmpfs"][0].startswith("/tmp")
    assert service["mem_limit"] and service["pids_limit"]
    assert not service.keys() & {"privileged", "cap_add", "network_mode", "pid", "user"}
    assert all(re.fullmatch(r"\$\{\w+:-127\.0\.0\.1:\d+\}:8000", port) for port in service["ports"])


def test_the_image_is_tried_with_the_restrictions_of_compose() -> None:
    service = COMPOSE["services"]["gradbox"]
    asked = {"--read-only", f"--tmpfs={service['tmpfs'][0].split(':')[0]}", f"--pids-limit={service['pids_limit']}"}
    asked |= {
        f"--cap-drop={service['cap_drop'][0]}",
        f"--security-opt={service['security_opt'][0].removesuffix(':true')}",
    }
    assert set(HARDENED) == asked | {f"--memory={service['mem_limit']}"}


def test_the_two_servers_differ_in_torch_and_the_device() -> None:
    usual, gpu = (COMPOSE["services"][name] for name in ("gradbox", "gpu"))
    usual_args, gpu_args = usual["build"]["args"], gpu["build"]["args"]
    assert "TORCH_BUILD=cpu" in lines("ARG", DOCKERFILE) and gpu_args.keys() - usual_args.keys() == {"TORCH_BUILD"}
    assert gpu_args["TORCH_BUILD"] == "${CUDA_BUILD:-cuda}" and gpu_args["TORCH_INDEX"] == "${CUDA_INDEX:-}"
    assert gpu["ports"] != usual["ports"]
    assert gpu["image"] != usual["image"] and gpu["environment"]["GRADBOX_GPU"] == "1"
    devices = gpu["deploy"]["resources"]["reservations"]["devices"]
    assert [(device["driver"], device["capabilities"]) for device in devices] == [("nvidia", ["gpu"])]
    assert gpu["environment"].items() >= usual["environment"].items()


def test_the_database_beside_it_is_the_one_that_is_named() -> None:
    postgres, server = COMPOSE["services"]["postgres"], COMPOSE["services"]["gradbox"]
    user = postgres["environment"]["POSTGRES_USER"]
    address = f"postgresql://{user}:${{POSTGRES_PASSWORD}}@postgres/{user}"
    assert server["environment"]["DATABASE_URL"] == f"${{DATABASE_URL:-${{POSTGRES_PASSWORD:+{address}}}}}"
    assert server["depends_on"]["postgres"] == {"condition": "service_healthy", "required": False}
    assert "ports" not in postgres and postgres["healthcheck"]["test"][0] == "CMD"
