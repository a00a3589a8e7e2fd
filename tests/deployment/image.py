"""Builds the image, runs it as compose.yaml would, and holds what the documents say of it.

`make image-check`, or `python -m tests.deployment.image [--cuda] [--engine docker|podman|buildah] [--base IMAGE]
[--image IMAGE] [--seccomp FILE] [--keep]`. With --cuda it is the image with torch's build for CUDA, and is tried on the
CPU: it needs no GPU, and proves nothing about one. The check takes the first engine that works here. Where no registry
of images can be reached, a base made by debootstrap stands in for the one of the Dockerfile. What pip and npm are
configured with on this machine is mounted while the image is built, and is not in it. Prints what it measured; the
status is 1 where something does not hold.
"""

import argparse
import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.deployment.container_engines import Engine, engine, finished, run
from tests.server.worker.attacks import ATTACKS, ENDS, PROGRAMS

ROOT = Path(__file__).parents[2]
STORE = ROOT / "var/image"
IMAGE, STAND_IN, SERVER = "localhost/gradbox-check", "localhost/gradbox-stand-in", "gradbox-check"
UID = 10_001
LARGEST, LARGEST_CUDA = 1_300_000_000, 4_700_000_000
QUICK = 5.0
"""Seconds in which a server that is told to end has ended, though a program runs."""

PUBLIC = "gradbox.example.org"
TOOLS = "cc gcc g++ clang ld as make cmake git node npm npx pip pip3 curl wget"
CONFIGURED = "-name node_modules -o -path /root/.npm -o '(' -name pip.conf -o -name .npmrc ')' -size +0"
"""An empty file may be left where something was mounted."""

BUILD = """
import importlib.util, torch
print(torch.__version__, torch.version.cuda, torch.cuda.is_available(), bool(importlib.util.find_spec("triton")))
"""

BUNDLES = "tests node_modules static/js package.json Dockerfile .git"

CLIENT = """
import http.client, json, sys
method, path, host, port, headers, body = json.load(sys.stdin)
connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
connection.request(method, path, body, {"Host": host, "Content-Type": "application/json", **headers})
answer = connection.getresponse()
print(json.dumps([answer.status, answer.getheader("content-type"), answer.read().hex()]))
"""

ORPHANS = """
import os, pathlib, signal, sys
own, processes = os.getuid(), {}
for path in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        if path.stat().st_uid == own:
            processes[int(path.name)] = ((path / "stat").read_text().rpartition(")")[2].split()[0], (path / "cmdline").read_text())
    except OSError:
        pass
if sys.argv[1:] == ["kill"]:
    os.kill(min(pid for pid, (_, line) in processes.items() if "server.worker.zygote" in line), signal.SIGKILL)
print(sum(state == "Z" for state, _ in processes.values()))
"""  # noqa: E501

LETTERS = """
from gradbox.pictures.renderer_process import FontFamilies, font_family, svg_to_png
fonts = FontFamilies(font_family("sans-serif", ""), font_family("monospace", ""))
svg = '<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><text y="50" font-family="{}">{}</text></svg>'
drawn = {(name, text): svg_to_png(svg.format(name, text), fonts) for name in ("sans-serif", "monospace") for text in ("", "ab", "\u5f20\u91cf")}
blank = drawn["sans-serif", ""]
print(fonts.sans, fonts.mono, *(name for (name, text), picture in drawn.items() if text and picture == blank), sep=", ")
"""  # noqa: E501

PROGRAM = "import torch\na = torch.ones(3, requires_grad=True)\nb = a.detach()\n(a * 2).sum().backward()\n"
ENDLESS = "import time\nwhile True: time.sleep(1)\n"
SCENARIO = {"source": PROGRAM, "title": "Kept in a volume · 保存在卷里", "language": "zh"}


@dataclass
class Answer:
    status: int
    kind: str
    body: bytes


@dataclass
class Trial:
    """One image in one engine.

    volume: where the server's state lies base, built: what it was made of, in how many seconds, where that was done
        here cuda: the image is the one with torch's build for CUDA
    """

    engine: Engine
    image: str
    volume: str
    base: str = ""
    built: float = 0.0
    host: str = "localhost"
    cuda: bool = False
    saved: dict[str, Any] = field(default_factory=dict)

    def start(self, **environment: str) -> float:
        """Seconds until a program would be run."""
        environment = {"GRADBOX_GPU": "1" if self.cuda else "0", **environment}
        self.engine.start(SERVER, self.image, environment, {self.volume: "/data"})
        began = time.monotonic()
        while time.monotonic() - began < 120:
            try:
                if self.ask("GET", "/readyz").status == 200:
                    return time.monotonic() - began
            except AssertionError:  # it does not listen yet
                time.sleep(0.5)
        raise AssertionError(f"not ready after two minutes: {self.engine.logs(SERVER)[-1000:]}")

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        text = None if body is None else json.dumps(body)
        request = json.dumps([method, path, f"{self.host}:{self.engine.port}", self.engine.port, headers, text])
        process = self.engine.inside(SERVER, "python", "-c", CLIENT, text=request)
        assert process.returncode == 0, process.stderr[-500:]
        status, kind, data = json.loads(process.stdout)
        return Answer(status, kind, bytes.fromhex(data))

    def says(self, *command: str, user: str = "") -> str:
        """What a command prints in a fresh container."""
        process = self.engine.once(self.image, *command, user=user)
        assert process.returncode == 0, process.stderr[-500:]
        return process.stdout.strip()


def size(trial: Trial) -> str:
    """≤ 1.3 GB, or 4.7 GB with CUDA, as the files lie on a disk."""
    total = occupied(trial.engine, trial.image)
    assert total <= (LARGEST_CUDA if trial.cuda else LARGEST), f"{total / 1e6:.0f} MB"
    if not trial.base:
        return f"{total / 1e6:.0f} MB"
    below = occupied(trial.engine, trial.base)
    return f"{total / 1e6:.0f} MB, of them {below / 1e6:.0f} MB the base; built in {trial.built:.0f} s"


def occupied(engine: Engine, image: str) -> int:
    """Bytes on a disk, none of them compressed."""
    return int(engine.once(image, "du", "-skx", "/", user="0").stdout.split()[0]) * 1024


def contents(trial: Trial) -> str:
    """No compiler, no Node, no pip, no tests."""
    command = f"for one in {TOOLS}; do command -v $one; done; ls -d {BUNDLES} 2>/dev/null; find / -xdev {CONFIGURED}"
    leftovers = trial.says("sh", "-c", command, user="0")
    assert not leftovers, leftovers
    trial.says("python", "-c", "import importlib.util as u; assert not u.find_spec('pip')")
    return "no compiler, Node, pip or tests in it, and nothing of how this machine is configured"


def torch(trial: Trial) -> str:
    """The build that was asked for, which loads without a GPU or its driver; no Triton, which initializes CUDA by
    itself."""
    version, cuda, available, triton = trial.says("python", "-c", BUILD).split()
    assert (cuda != "None") == trial.cuda and triton == "False", (version, cuda, triton)
    return f"{version}, for CUDA {cuda}; a GPU is {'' if available == 'True' else 'not '}here"


def user(trial: Trial) -> str:
    """An ordinary one, who can write nothing of the image."""
    own = trial.says("sh", "-c", "id -u; id -G")
    assert own.split() == [str(UID)] * 2, own
    wide = trial.says(
        "sh", "-c", "find / -xdev '(' -type d -o -type f ')' -writable -not -path '/proc/*' 2>/dev/null; true"
    )
    unexpected = [path for path in wide.split() if not path.startswith(("/data", "/tmp", "/var/tmp", "/dev", "/run"))]
    assert "/data" in wide.split() or not trial.engine.isolated, wide
    assert not unexpected, unexpected[:5]
    return f"uid {UID}, which may write in {' '.join(wide.split())}"


def fresh(trial: Trial) -> str:
    """The server comes up with an empty volume; what confines its programs is there."""
    seconds = trial.start()
    layers = json.loads(trial.ask("GET", "/healthz").body)["layers"]
    lacking = {name: why for name, why in layers.items() if why != "active" and name != "uid"}
    assert layers and not lacking, lacking
    return f"ready after {seconds:.1f} s; active: {', '.join(name for name, why in layers.items() if why == 'active')}"


def closed(trial: Trial) -> str:
    """The root can't be written, no right is left, and there is a filter before ours."""
    if not trial.engine.isolated:
        return "not tried: this engine only changes the root"
    process = trial.engine.inside(
        SERVER, "sh", "-c", "touch /app/x /etc/x; grep -hE '^(Cap|NoNew|Seccomp:)' /proc/1/status"
    )
    assert process.stderr.count("Read-only file system") == 2, process.stderr
    held = dict(line.split(":\t") for line in process.stdout.splitlines())
    assert held.pop("NoNewPrivs") == "1" and held.pop("Seccomp") == "2", held
    assert {int(value, 16) for value in held.values()} == {0}, held
    return "root file system read-only, no capability, no new privileges, the engine's own filter of system calls"


def health(trial: Trial) -> str:
    """The image's health check, and that it can fail."""
    line = re.search(r"^HEALTHCHECK.* CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.M)
    assert line
    command = json.loads(line[1])
    assert command[-1] == "8000"
    command[-1] = str(trial.engine.port)
    began = time.monotonic()
    process = trial.engine.inside(SERVER, *command)
    seconds = time.monotonic() - began
    assert process.returncode == 0, process
    assert trial.engine.inside(SERVER, *command[:-1], "9").returncode == 1
    return f"0 after {seconds:.1f} s; 1 where nothing listens"


def doctor(trial: Trial) -> str:
    """Its own page finds nothing wrong with the host: workers, memory, fonts."""
    process = trial.engine.inside(SERVER, "python", "-m", "server", "doctor")
    wrong = [line for line in process.stdout.splitlines() if line.startswith("!")]
    assert process.returncode == 0 and not wrong, wrong or process.stderr
    return "it finds nothing missing"


def letters(trial: Trial) -> str:
    """Latin and Chinese ones, in what is drawn on the server."""
    fonts = trial.says("python", "-c", LETTERS)
    assert fonts.count(",") == 1, f"nothing is drawn in {fonts}"
    return f"Latin and Chinese are drawn; by themselves {fonts}"


def save(trial: Trial) -> str:
    """A scenario, its permalink, and its picture."""
    answer = trial.ask("POST", "/api/scenarios", SCENARIO)
    assert answer.status in (200, 201), answer
    trial.saved = json.loads(answer.body)
    opened(trial)
    picture = trial.ask("GET", f"/s/{trial.saved['id']}.png?step=3")
    assert (picture.status, picture.kind) == (200, "image/png") and picture.body.startswith(b"\x89PNG"), picture
    (STORE / "picture.png").write_bytes(picture.body)
    return f"/s/{trial.saved['id']}, and its picture of {len(picture.body) / 1000:.0f} kB"


def opened(trial: Trial) -> None:
    page = trial.ask("GET", f"/s/{trial.saved['id']}")
    assert page.status == 200 and SCENARIO["title"].encode() in page.body, page.status
    trace = json.loads(trial.ask("GET", f"/s/{trial.saved['id']}.trace.json").body)
    assert trace["outcome"]["status"] == "finished", trace["outcome"]


def device(trial: Trial) -> str:
    """A program runs on the CPU. One that asks for a GPU runs on it, or the answer is an error that says there is
    none."""
    answer = trial.ask("POST", "/api/runs", {"source": PROGRAM})
    outcome = json.loads(answer.body)["outcome"]
    assert outcome["status"] == "finished", outcome
    asked = trial.ask("POST", "/api/runs", {"source": PROGRAM, "device": "cuda"})
    if asked.status == 200:
        return "a program runs on the CPU, and one on the GPU"
    error = json.loads(asked.body)["error"]
    assert (asked.status, error["code"], error["field"]) == (422, "no_device", "device"), error
    return f"a program runs on the CPU; one that asks for a GPU is answered with 422, {error['message']!r}"


def memory(trial: Trial) -> str:
    """At rest: what its processes hold, a page that several share counted once."""
    time.sleep(5)
    held, count = 0, 0
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if path.stat().st_uid == UID:  # whatever else this user runs on this machine is counted, too
                held += int(re.findall(r"^Pss: +(\d+)", (path / "smaps_rollup").read_text(), re.M)[0]) * 1024
                count += 1
        except OSError:
            continue
    if count:
        return f"{held / 1e6:.0f} MB in {count} processes"
    for name in ("memory.current", "memory/memory.usage_in_bytes"):
        process = trial.engine.inside(SERVER, "cat", f"/sys/fs/cgroup/{name}")
        if process.returncode == 0:
            return f"{int(process.stdout) / 1e6:.0f} MB, with the files that the kernel keeps for it"
    raise AssertionError("nobody tells")


def orphans(trial: Trial) -> str:
    """The workers' first process is killed: its children are reaped, and others come."""
    assert trial.engine.inside(SERVER, "python", "-c", ORPHANS, "kill").returncode == 0
    deadline = time.monotonic() + 60
    while not json.loads(trial.ask("GET", "/readyz").body)["ready"]:
        assert time.monotonic() < deadline, "no other workers came"
    trace = json.loads(trial.ask("POST", "/api/runs", {"source": "x = 1\n"}).body)
    assert trace["outcome"]["status"] == "finished", trace["outcome"]
    left = trial.engine.inside(SERVER, "python", "-c", ORPHANS).stdout.strip()
    assert left == "0", f"{left} dead processes"
    return "new workers, and no dead process"


def end(trial: Trial) -> str:
    """By SIGTERM, while a program runs."""
    answer = trial.ask("POST", "/api/runs", {"source": ENDLESS}, Prefer="respond-async")
    assert answer.status == 202, answer
    seconds, status = trial.engine.stop(SERVER)
    assert seconds < QUICK and status in (0, 143), (seconds, status)
    return f"{seconds:.1f} s after SIGTERM, though a program ran; its status is {status}"


def again(trial: Trial) -> str:
    """The same volume, another name, and no start without every layer: what was saved is there."""
    trial.host = PUBLIC
    seconds = trial.start(GRADBOX_HOSTS=f"{PUBLIC},www.{PUBLIC}", GRADBOX_SANDBOX="require")
    health(trial)
    opened(trial)
    trial.host = "localhost"
    refused = trial.ask("GET", "/readyz").status
    assert refused == 421, refused
    ended, _ = trial.engine.stop(SERVER)
    return f"ready after {seconds:.1f} s, opens what was saved, answers to {PUBLIC} alone; ended after {ended:.1f} s"


def attacks(trial: Trial) -> str:
    """Everything of tests/server/worker/attacks.py, by the image's own user, Python and modules."""
    command = ("python", "-m", "tests.server.worker.attack_runner", "confined", str(UID))
    process = trial.engine.once(trial.image, *command, volumes={str(ROOT / "tests"): "/app/tests"})
    assert process.returncode == 0, process.stderr[-1000:]
    _, report = json.loads(process.stdout)
    succeeded = {name: how for name, how in report["attacks"].items() if not how.startswith(("raised ", "died "))}
    assert report["attacks"].keys() == ATTACKS.keys() and not succeeded, succeeded
    assert report["ends"] == {name: how for name, (_, how) in ENDS.items()}, report["ends"]
    assert report["programs"] == dict.fromkeys(PROGRAMS, "succeeded"), report["programs"]
    return f"none of {len(ATTACKS)} succeeds, {len(ENDS)} are ended, {len(PROGRAMS)} programs work"


ALL: tuple[Callable[[Trial], str], ...] = (
    size,
    contents,
    torch,
    user,
    letters,
    attacks,
    fresh,
    device,
    memory,
    closed,
    health,
    doctor,
    save,
    orphans,
    end,
    again,
)
"""In this order: `fresh` starts the server that those after it ask, `end` ends it, `again` starts it once more."""


def base(builder: Engine, wanted: str) -> str:
    """The image to build on: that one, or the Dockerfile's, or where no registry is reached a stand-in made here."""
    usual = re.search(r"^ARG BASE=(\S+)", (ROOT / "Dockerfile").read_text(), re.M)
    assert usual
    name = wanted or usual[1]
    if builder.has(name) or finished(*builder.words, "pull", name).returncode == 0 or wanted:
        return name
    if builder.has(STAND_IN):
        return STAND_IN
    assert shutil.which("debootstrap") and os.geteuid() == 0, f"{name} can't be had, nor debootstrap be run"
    root = STORE / "stand-in"
    if not (root / "usr/bin/python3").exists():
        packages = "--include=ca-certificates,python3,python3-venv"
        run("debootstrap", "--variant=minbase", packages, "bookworm", str(root), "http://deb.debian.org/debian")
        for bulk in (
            "var/cache/apt/archives",
            "var/lib/apt/lists",
            "usr/share/doc",
            "usr/share/man",
            "usr/share/locale",
        ):
            shutil.rmtree(root / bulk)
    container = STORE / "stand-in.Dockerfile"
    container.write_text('FROM scratch\nCOPY . /\nENV LANG=C.UTF-8\nCMD ["python3"]\n')
    run(*builder.words, *builder.build_words, "--tag", STAND_IN, "--file", str(container), str(root))
    return STAND_IN


def configured() -> dict[str, str]:
    """What pip and npm need on this machine, to be mounted: place here -> place there."""
    pip = configparser.RawConfigParser()
    pip["global"] = {}
    for line in finished(sys.executable, "-m", "pip", "config", "list").stdout.splitlines():
        name, _, value = line.partition("=")
        pip["global"][name.rpartition(".")[2]] = value.strip("'\"").replace("\\n", "\n")
    with (STORE / "pip.conf").open("w") as file:
        pip.write(file)
    npm = [f"{name}={finished('npm', 'config', 'get', name).stdout.strip()}" for name in ("registry", "cafile")]
    (STORE / "npmrc").write_text("\n".join(line for line in npm if not line.endswith(("=", "=null"))) + "\n")
    volumes = {str(STORE / "pip.conf"): "/etc/pip.conf", str(STORE / "npmrc"): "/root/.npmrc"}
    words = " ".join([*pip["global"].values(), *npm]).replace("=", " ").split()
    indexes = [
        Path(word.removeprefix("file://")).parent for word in words if word.startswith("file://")
    ]  # files lie beside
    paths = [*indexes, *(Path(word) for word in words if word.startswith("/"))]
    folders = {str(path if path.is_dir() else path.parent) for path in paths if path.exists()}
    return volumes | {folder: folder for folder in folders}


def hold(check: Callable[[Trial], str], trial: Trial) -> bool:
    """Print what came of it; whether it holds."""
    print(f"{check.__name__:10} ", end="", flush=True)
    try:
        held, result = True, check(trial)
    except (AssertionError, subprocess.TimeoutExpired, LookupError, ValueError) as error:
        held, result = False, f"{type(error).__name__}: {error}"
    print(f"{'held' if held else 'BROKEN':7} {result}", flush=True)
    return held


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.deployment.image", description="Build the image and try it.")
    parser.add_argument("--cuda", action="store_true", help="the image with torch's build for CUDA")
    parser.add_argument("--engine", choices=("docker", "podman", "buildah"), default="")
    parser.add_argument("--base", default="", help="an image to build on instead of the Dockerfile's")
    parser.add_argument("--image", default="", help="one that is there already, instead of building one")
    parser.add_argument("--seccomp", default="", help="a profile to run under instead of the engine's")
    parser.add_argument("--keep", action="store_true", help="leave the image")
    options = parser.parse_args()
    STORE.mkdir(parents=True, exist_ok=True)
    chosen = engine(options.engine, STORE, options.seccomp)
    if chosen is None:
        print(
            "nothing here builds images: docker, or podman with runc, or buildah; with debootstrap where no registry is"
        )
        return 2
    trial = Trial(chosen, options.image or IMAGE, chosen.volume(f"{SERVER}-data"), cuda=options.cuda)
    try:
        if not options.image:
            trial.base = base(chosen, options.base)
            arguments = {"BASE": trial.base, "TORCH_BUILD": "cuda" if trial.cuda else "cpu"}
            volumes = {} if chosen.words[0] == "docker" else configured()
            chosen.discard(IMAGE)
            began = time.monotonic()
            chosen.build(IMAGE, ROOT, arguments, volumes)
            trial.built = time.monotonic() - began
        print(f"{chosen.words[0]}{', on ' if trial.base else ''}{trial.base}{chosen.lacks}", flush=True)
        held = [hold(check, trial) for check in ALL]
    finally:
        chosen.remove(SERVER)
        chosen.forget(trial.volume)
        if not options.keep and not options.image:
            chosen.discard(IMAGE)
    print(f"{sum(held)} of {len(held)} held")
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main())
