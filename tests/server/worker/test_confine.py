"""The confinement alone: no attack gets out, programs still work in it, and the layers that this host supports are
known."""

import functools
import json
import os
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from server.worker import confine, landlock
from tests.server.worker.attack_runner import become
from tests.server.worker.attacks import ATTACKS, ENDS, LOOPS, OF_ROOT, PROGRAMS, UNTRIED
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.attack

ROOT = Path(__file__).parents[3]
NOBODY = 65_534
USERS = [0, NOBODY] if os.geteuid() == 0 else [os.geteuid()]
NAMES = [layer.name for layer in confine.LAYERS]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
as_any = pytest.mark.parametrize("user", USERS)


@functools.cache
def outcomes_of_all(ways: str) -> dict[str, dict[str, dict[str, str]]]:
    """By way and user, of attacks and programs that are confined, or loose; `loops`: of LOOPS, confined."""
    environment = {"SECRET": "s3cr3t", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.server.worker.attack_runner", ways, *map(str, USERS)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=480, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return dict(map(json.loads, done.stdout.splitlines()))


def outcomes(user: int, way: str) -> dict[str, dict[str, str]]:
    return outcomes_of_all("loops" if way == "loops" else "confined,loose")[f"{way} {user}"]


@pytest.fixture
def host() -> None:
    lacking = confine.missing_layers(confine.try_layers())
    if lacking:
        pytest.skip(f"this host cannot confine: {lacking}")


def in_a_child(act: Callable[[], object]) -> str:
    """The result of a function in a child process, or the exception that it raised."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, str(act()).encode())
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        result = file.read().decode()
    os.waitpid(pid, 0)
    return result


@as_any
@pytest.mark.usefixtures("host")
def test_no_attack_succeeds(user: int) -> None:
    ends = outcomes(user, "confined")["attacks"]
    assert ends.keys() == ATTACKS.keys()
    assert {name: end for name, end in ends.items() if not end.startswith(("raised ", "died "))} == {}


@as_any
def test_an_attack_succeeds_without_the_confinement(user: int) -> None:
    """Except for what this host refuses everybody. It shows that no attack fails by a mistake of its own."""
    ends = outcomes(user, "loose")["attacks"]
    assert ends.keys() == ATTACKS.keys() - UNTRIED.keys() - (OF_ROOT.keys() if user else set())
    failed = {name: end for name, end in ends.items() if end != "succeeded"}
    assert {name: end for name, end in failed.items() if not re.match(r"raised \w*Error: \[Errno \d+\]", end)} == {}
    assert len(failed) < len(ends) / 10, failed


@as_any
@pytest.mark.usefixtures("host")
def test_a_program_that_does_not_end_is_ended(user: int) -> None:
    expected = {name: end for name, (_, end) in ENDS.items() if user == USERS[0] or name not in LOOPS}
    assert outcomes(user, "confined")["ends"] == expected


@pytest.mark.exhaustive
@pytest.mark.parametrize("user", USERS[1:])
@pytest.mark.usefixtures("host")
def test_endless_loops_are_stopped(user: int) -> None:
    assert outcomes(user, "loops")["ends"] == {name: end for name, (_, end) in ENDS.items() if name in LOOPS}


@as_any
@pytest.mark.usefixtures("host")
def test_programs_work(user: int) -> None:
    assert outcomes(user, "confined")["programs"] == dict.fromkeys(PROGRAMS, "succeeded")


def test_each_layer_that_the_kernel_has_works_here() -> None:
    layers = confine.try_layers()
    assert list(layers) == NAMES
    expected = dict.fromkeys(NAMES, "")
    if os.geteuid() != 0:
        expected["uid"] = "the server does not run as root"
    if not landlock.landlock_version():
        expected["landlock"] = "the kernel has no Landlock"
    assert layers == expected


@as_root
def test_an_ordinary_user_has_no_user_to_change_from() -> None:
    def act() -> str:
        become(NOBODY)
        layers = confine.try_layers()
        return json.dumps([layers["uid"], confine.missing_layers(layers)])

    assert json.loads(in_a_child(act)) == ["the server does not run as root", {}]


def test_the_layer_of_users_is_missing_only_for_root(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = dict.fromkeys(NAMES, "") | {"uid": "why", "landlock": "why not"}
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert confine.missing_layers(layers) == {"uid": "why", "landlock": "why not"}
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert confine.missing_layers(layers) == {"landlock": "why not"}


@pytest.mark.parametrize(
    ("apply", "is_effective", "reason"),
    [
        (lambda _: None, lambda _: True, ""),
        (lambda _: None, lambda _: False, "it was entered and changed nothing"),
        (lambda _: time.sleep(6000), lambda _: True, "a process that tried it ended with -9"),  # it is killed
        (lambda _: os._exit(3), lambda _: True, "a process that tried it ended with 3"),
        (lambda _: signal.raise_signal(signal.SIGTERM), lambda _: True, "a process that tried it ended with -15"),
        (lambda _: confine.prctl(-1), lambda _: True, "Invalid argument"),
        (lambda _: dict[str, int]()["x"], lambda _: True, "KeyError: 'x'"),
    ],
)
def test_a_trial_ends_whatever_a_layer_does(
    apply: Callable[[confine.ChildRestrictions], object],
    is_effective: Callable[[confine.ChildRestrictions], bool],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(confine, "TRIAL_TIMEOUT", 0.5)
    assert confine.try_layer(confine.ConfinementLayer("a layer", apply, is_effective)) == reason


@as_root
@pytest.mark.parametrize(
    ("layer", "error"),
    [
        ("uid", "PermissionError: [Errno 1] the server does not run as root"),
        ("landlock", "PermissionError: [Errno 1] Operation not permitted"),
        ("seccomp", "PermissionError: [Errno 13] Permission denied"),
    ],
)
def test_a_layer_that_worked_and_fails_stops_the_child(layer: str, error: str) -> None:
    """An ordinary user can't change to another one, nor take the two others without no_new_privs."""

    def act() -> None:
        become(NOBODY)
        confine.Confinement(dict.fromkeys(NAMES, "left out") | {layer: ""}, 1 << 30, 5, 61_000).confine_process((), 0)

    assert in_a_child(act) == error


def test_a_limit_is_not_raised_over_the_one_that_is_there() -> None:
    def act() -> list[int]:
        resource.setrlimit(resource.RLIMIT_NOFILE, (8, 9))
        confine.lower_resource_limit(resource.RLIMIT_NOFILE, 16)
        confine.lower_resource_limit(resource.RLIMIT_CPU, 5, 6)
        return [*resource.getrlimit(resource.RLIMIT_NOFILE), *resource.getrlimit(resource.RLIMIT_CPU)]

    assert in_a_child(act) == "[9, 9, 5, 6]"


@as_any
@pytest.mark.usefixtures("host")
def test_a_child_dies_with_its_parent(user: int) -> None:
    """Though it has changed its user, which the kernel forgets that for."""
    reader, writer = os.pipe()
    parent = os.fork()
    if parent == 0:
        try:
            if user != os.geteuid():
                become(user)
            confinement = confine.Confinement(confine.try_layers(), 1 << 30, 5, 61_000)
            if os.fork() == 0:
                confine.prctl(1, signal.SIGKILL)
                confinement.confine_process((writer,), 0)
                os.write(writer, str(os.getpid()).encode())
            time.sleep(6000)  # until it is killed
        finally:
            os._exit(1)
    os.close(writer)
    child = os.pidfd_open(int(os.read(reader, 20)))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert select.select([child], [], [], PATIENCE)[0]
    os.close(child)
    os.close(reader)


@pytest.mark.skipif(not landlock.landlock_version(), reason="the kernel has no Landlock")
def test_landlock_allows_reading_the_paths_it_was_given(tmp_path: Path) -> None:
    for name in ("file", "other"):
        (tmp_path / name).write_text(name)
    (tmp_path / "directory").mkdir()
    (tmp_path / "directory/inner").write_text("inner")

    def act() -> str:
        confine.prctl(38, 1)
        landlock.restrict_with_landlock([str(tmp_path / "file"), str(tmp_path / "directory")])
        assert confine.raises_os_error((tmp_path / "other").read_text)
        assert confine.raises_os_error((tmp_path / "file").write_text, "x")
        assert confine.raises_os_error((tmp_path / "directory/new").write_text, "x")
        return (tmp_path / "file").read_text() + (tmp_path / "directory/inner").read_text()

    assert in_a_child(act) == "fileinner"


def test_landlock_asks_for_what_its_version_knows() -> None:
    assert landlock.ruleset_attributes(1) == struct.pack("Q", 0x1FFF)
    assert landlock.ruleset_attributes(3) == struct.pack("Q", 0x7FFF)
    assert landlock.ruleset_attributes(4) == struct.pack("2Q", 0x7FFF, 3)
    assert landlock.ruleset_attributes(7) == struct.pack("3Q", 0xFFFF, 3, 3)
