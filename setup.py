"""Builds the package `gradbox`; in a wheel it has inside, as gradbox/engine, what a checkout has beside it.

All that can be said without code is in pyproject.toml.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
ENGINE = ("server", "static/dist", "static/locales", "templates", "scenarios", "lessons")
"""Folders that the server reads when it runs; the same as in the Dockerfile."""

BUILT_PAGE = ROOT / "static/dist/style.css"
NO_PAGE = (
    "gradbox: the page's scripts and styles are not built, and there is no npm to build them. "
    "Run `make wheel`, which fetches Node.js where there is none, or install Node.js and try again."
)

build_folder = tempfile.TemporaryDirectory(prefix="gradbox-build-")
"""Not in the checkout: what an earlier build left there would get into the wheel."""


class BuildWithEngine(build_py):
    """Builds the package with gradbox/engine. An editable installation has no use for that: it runs from the checkout."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        build_page()
        target = Path(self.build_lib) / "gradbox/engine"
        ignore = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
        for folder in ENGINE:
            shutil.copytree(ROOT / folder, target / folder, ignore=ignore)


def build_page() -> None:
    """Build the page unless it is there. Raises SystemExit where that can't be done."""
    if BUILT_PAGE.exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit(NO_PAGE)
    subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=ROOT, check=True)
    subprocess.run([npm, "run", "--silent", "build"], cwd=ROOT, check=True)


# in a checkout `server` can be imported from anywhere, as ever; in a wheel it must not take that name from others
packages = ["gradbox*", "server*"] if "editable_wheel" in sys.argv else ["gradbox*"]
setup(
    packages=find_packages(str(ROOT), include=packages, exclude=["gradbox.engine*"]),
    cmdclass={"build_py": BuildWithEngine},
    options={"build": {"build_base": build_folder.name}},
)
