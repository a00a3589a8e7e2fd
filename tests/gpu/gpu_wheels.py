"""`make gpu-wheels` gathers what Gradbox needs beside torch for a machine without a package index, as wheels in
var/gpu-wheels.

By itself for Python 3.12 on x86-64 Linux; `python -m tests.gpu.gpu_wheels 3.13` for another version. On that machine
`make gpu-check` installs them into a folder of their own: nothing of its Python is changed. torch and numpy are not
among them: the machine has its own, and what is tested is Gradbox beside those.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "var/gpu-wheels"
GLIBC_VERSIONS = ("2_5", "2_12", "2_17", "2_24", "2_26", "2_27", "2_28", "2_31", "2_34", "2_35")
"""For which wheels are marked; pip matches each exactly."""

TEST_REQUIREMENTS = ("httpx2", "pytest", "pytest-rerunfailures", "pytest-xdist")
LEFT_OUT = ("numpy", "mini-racer")
"""Packages that are not gathered: numpy is torch's, and pictures are not what is checked."""


def requirements() -> list[str]:
    """What is gathered, as pip takes it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = (one for name in ("server", "cluster", "packages") for one in project["optional-dependencies"][name])
    wanted = [*project["dependencies"], *extras, *TEST_REQUIREMENTS]
    return [one for one in wanted if not one.startswith(LEFT_OUT)]


def main(python_version: str = "3.12") -> None:
    """Download the wheels. Raises CalledProcessError.

    python_version: of the machine that they are for
    """
    platforms = [f"manylinux_{version}_x86_64" for version in GLIBC_VERSIONS] + [
        "manylinux2014_x86_64",
        "manylinux1_x86_64",
    ]
    options = ["--only-binary=:all:", f"--python-version={python_version}", "--implementation=cp"]
    TARGET.mkdir(parents=True, exist_ok=True)
    for old in TARGET.glob("*.whl"):
        old.unlink()
    command = [sys.executable, "-m", "pip", "download", "-q", "-d", str(TARGET), *options]
    subprocess.run([*command, *(f"--platform={name}" for name in platforms), *requirements()], check=True)
    wheels = list(TARGET.glob("*.whl"))
    print(
        f"{len(wheels)} wheels, {sum(wheel.stat().st_size for wheel in wheels) / 1e6:.0f} MB, in "
        f"{TARGET.relative_to(ROOT)}"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
