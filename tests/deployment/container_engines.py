"""What builds and runs an image: Docker, Podman, or buildah alone, which only changes the root of what it starts."""

import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

Finished = subprocess.CompletedProcess[str]

HARDENED = (
    "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--pids-limit=512", "--memory=4g",  # noqa: E501
)  # fmt: skip
"""What compose.yaml asks for."""

PORT = 8000


def run(*words: str, timeout: float = 600) -> Finished:
    """Raises AssertionError with the end of what it said where it fails."""
    process = finished(*words, timeout=timeout)
    assert process.returncode == 0, f"{' '.join(words)[:200]}: {(process.stderr or process.stdout).strip()[-2000:]}"
    return process


def finished(*words: str, text: str | None = None, timeout: float = 600) -> Finished:
    return subprocess.run(words, input=text, capture_output=True, text=True, timeout=timeout, check=False)


class Engine:
    """Docker, or what takes the same words. isolated: its containers are more than another root."""

    isolated = True
    lacks = ""
    port = PORT

    def __init__(self, *words: str, seccomp: str = "") -> None:
        self.words = words
        self.seccomp = (f"--security-opt=seccomp={seccomp}",) if seccomp else ()
        self.build_words: tuple[str, ...] = ("build",)
        self.run_words: tuple[str, ...] = ()

    def build(self, tag: str, folder: Path, arguments: Mapping[str, str], volumes: Mapping[str, str]) -> None:
        """volumes: place here -> place there, while it is built; nothing of them stays in the image."""
        options = [f"--build-arg={name}={value}" for name, value in arguments.items()]
        options += [f"--volume={host_path}:{container_path}:ro" for host_path, container_path in volumes.items()]
        run(*self.words, *self.build_words, *options, "--tag", tag, str(folder), timeout=3600)

    def start(self, name: str, image: str, environment: Mapping[str, str], volumes: Mapping[str, str]) -> None:
        """The image's own command, as compose.yaml would have it run."""
        options = [f"--env={key}={value}" for key, value in environment.items()]
        options += [f"--volume={host_path}:{container_path}" for host_path, container_path in volumes.items()]
        run(*self.words, "run", "--detach", "--name", name, *self._flags(), *HARDENED, *options, image)

    def inside(self, name: str, *command: str, text: str | None = None) -> Finished:
        """A command beside the server."""
        return finished(*self.words, "exec", "--interactive", name, *command, text=text)

    def once(self, image: str, *command: str, user: str = "", volumes: Mapping[str, str] | None = None) -> Finished:
        """A command in a container of its own, with no option that makes it safer or weaker."""
        options = [f"--volume={host_path}:{container_path}:ro" for host_path, container_path in (volumes or {}).items()]
        options += [f"--user={user}"] if user else []
        return finished(
            *self.words, "run", "--rm", "--entrypoint=", "--env=OMP_NUM_THREADS=1", "--env=OPENBLAS_NUM_THREADS=1",
            "--env=SECRET=s3cr3t", *self._flags(), *options, image, *command,
        )  # fmt: skip

    def stop(self, name: str) -> tuple[float, int]:
        """Seconds until it had ended by SIGTERM, and its status. Takes it away."""
        began = time.monotonic()
        run(*self.words, "stop", "-t", "20", name)
        seconds = time.monotonic() - began
        status = run(*self.words, "inspect", "--format={{.State.ExitCode}}", name).stdout
        self.remove(name)
        return seconds, int(status)

    def logs(self, name: str) -> str:
        process = finished(*self.words, "logs", name)
        return process.stdout + process.stderr

    def has(self, image: str) -> bool:
        return finished(*self.words, "image", "inspect", image).returncode == 0

    def remove(self, name: str) -> None:
        finished(*self.words, "rm", "--force", "--volumes", name)

    def volume(self, name: str) -> str:
        """A new, empty one."""
        finished(*self.words, "volume", "rm", "--force", name)
        run(*self.words, "volume", "create", name)
        return name

    def forget(self, volume: str) -> None:
        finished(*self.words, "volume", "rm", "--force", volume)

    def discard(self, image: str) -> None:
        finished(*self.words, "image", "rm", "--force", image)

    def _flags(self) -> tuple[str, ...]:
        return (*self.run_words, *self.seccomp)


class Podman(Engine):
    """Has no network in its containers: everything is asked from inside, and a bridge takes what few machines have."""

    def __init__(self, store: Path, seccomp: str = "") -> None:
        words = ["podman", *storage_options("podman", store), "--events-backend=none", "--log-level=fatal"]
        if not Path("/run/systemd/system").exists():
            words.append("--cgroup-manager=cgroupfs")
        if shutil.which("runc"):
            words.append("--runtime=runc")
        super().__init__(*words, seccomp=seccomp)
        self.build_words = ("build", "--layers=false", "--isolation=chroot", "--network=host", "--format=docker")
        least = [
            f"--ulimit={name}={capped_ulimit(limit)}" for name, limit in (("nofile", 7), ("nproc", 6))
        ]  # none is raised
        self.run_words = ("--network=none", "--no-healthcheck", *least)


class Buildah(Engine):
    """Its containers have a root of their own and nothing else: this machine's network, processes, kernel and rights,
    but for the user. So the server listens at a port that is free here, and nothing is read-only."""

    isolated = False
    lacks = ", which changes the root alone"
    port = 8119

    def __init__(self, store: Path) -> None:
        super().__init__("buildah", *storage_options("buildah", store))
        self.build_words = ("build", "--isolation=chroot", "--network=host", "--format=docker")
        self.store = store
        self.running: dict[str, tuple[subprocess.Popen[bytes], list[str]]] = {}

    def start(self, name: str, image: str, environment: Mapping[str, str], volumes: Mapping[str, str]) -> None:
        run(*self.words, "from", "--name", name, image)
        run(
            *self.words, "config", *(f"--volume={container_path}-" for container_path in volumes.values()), name
        )  # its own would win
        options = [f"--env={key}={value}" for key, value in environment.items()]
        options += [f"--volume={host_path}:{container_path}" for host_path, container_path in volumes.items()]
        words = [*self.words, "run", "--isolation=chroot", *options]
        command = ["tini", "-s", "--", "python", "-m", "server", "serve", "--port", str(self.port)]
        with (self.store / f"{name}.log").open("wb") as log:
            process = subprocess.Popen([*words, name, *command], stdout=log, stderr=log, start_new_session=True)
        self.running[name] = (process, words)

    def inside(self, name: str, *command: str, text: str | None = None) -> Finished:
        return finished(*self.running[name][1], name, *command, text=text)

    def once(self, image: str, *command: str, user: str = "", volumes: Mapping[str, str] | None = None) -> Finished:
        options = [f"--volume={host_path}:{container_path}:ro" for host_path, container_path in (volumes or {}).items()]
        options += [f"--user={user}"] if user else []
        name = run(*self.words, "from", image).stdout.strip()
        try:
            return finished(
                *self.words, "run", "--isolation=chroot", "--env=OMP_NUM_THREADS=1", "--env=OPENBLAS_NUM_THREADS=1",
                "--env=SECRET=s3cr3t", *options, name, *command,
            )  # fmt: skip
        finally:
            self.remove(name)

    def stop(self, name: str) -> tuple[float, int]:
        process, _ = self.running.pop(name)
        began = time.monotonic()
        first = next(pid for pid in below(process.pid) if Path(f"/proc/{pid}/comm").read_text() == "tini\n")
        os.kill(first, signal.SIGTERM)
        try:
            status = process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            status = 137
        seconds = time.monotonic() - began
        self.remove(name)
        return seconds, status

    def logs(self, name: str) -> str:
        return (self.store / f"{name}.log").read_text()

    def has(self, image: str) -> bool:
        return finished(*self.words, "inspect", "--type=image", image).returncode == 0

    def remove(self, name: str) -> None:
        if name in self.running:
            self.stop(name)
        finished(*self.words, "rm", name)

    def volume(self, name: str) -> str:
        folder = self.store / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        os.chown(folder, 10_001, 10_001)  # an engine does it, after the image's own folder
        return str(folder)

    def forget(self, volume: str) -> None:
        shutil.rmtree(volume, ignore_errors=True)

    def discard(self, image: str) -> None:
        finished(*self.words, "rmi", "--force", image)


def storage_options(tool: str, store: Path) -> tuple[str, ...]:
    """A store of images of its own. Where the kernel has no overlays for us, each layer is copied: slow, and large."""
    folders = ("--root", str(store / "store"), "--runroot", str(store / "run"))
    overlay = finished(tool, "--storage-driver=overlay", *folders, "info").returncode == 0
    return f"--storage-driver={'overlay' if overlay else 'vfs'}", *folders


def capped_ulimit(resource_limit: int) -> str:
    """A limit of this process as `--ulimit` takes it, `soft:hard`, no higher than what it has now.

    resource_limit: as in `resource`
    """
    soft, hard = resource.getrlimit(resource_limit)
    least = min((value for value in (soft, hard, 20_000) if value != resource.RLIM_INFINITY), default=20_000)
    return f"{least}:{least}"


def below(pid: int) -> list[int]:
    """What a process has started, and what that has."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    processes = [pid]
    for process in processes:
        processes += [child for child, parent in parents.items() if parent == process]
    return processes[1:]


def engine(name: str, store: Path, seccomp: str) -> Engine | None:
    """The one of that name, or the first that works here: docker, podman, buildah; None where none does."""
    if name in ("docker", "") and shutil.which("docker") and finished("docker", "info").returncode == 0:
        return Engine("docker", seccomp=seccomp)
    if name in ("podman", "") and shutil.which("podman"):
        return Podman(store, seccomp)
    if name in ("buildah", "") and shutil.which("buildah"):
        return Buildah(store)
    return None
