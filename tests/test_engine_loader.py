"""Our `server` beside a program's own: each finds what is meant for it. One process, which has neither before."""

import json
import subprocess
import sys
from pathlib import Path

from gradbox import __version__, engine_loader
from gradbox.wire import limits
from server import __version__ as server_version

ROOT = Path(__file__).parent.parent
PROGRAM = """
import json, sys
sys.path.append(sys.argv[1])
from gradbox import engine_loader
path, finders = list(sys.path), list(sys.meta_path)
trace = engine_loader.load("gradbox.wire.trace")
early = sorted(name for name in sys.modules if name.partition(".")[0] == "server")
import server, server.wire
ours = engine_loader.load("server")
late = engine_loader.load("gradbox.wire.limits")
try:
    engine_loader.load("server.nowhere")
except ModuleNotFoundError as error:
    missing = str(error)
print(json.dumps({
    "early": early, "users": [server.WHOSE, server.wire.WHOSE], "same": ours.wire.limits is late and trace.Limit is late.Limit,
    "module": trace.Step.__module__, "file": late.__file__, "missing": missing,
    "untouched": [path == sys.path, finders == sys.meta_path, __builtins__.__import__ is not late.__builtins__["__import__"]],
    "users_import": __import__("server") is server,
}))
"""


def test_a_program_keeps_its_own_server(tmp_path: Path) -> None:
    (tmp_path / "server/wire").mkdir(parents=True)
    for name in ("server/__init__.py", "server/wire/__init__.py"):
        (tmp_path / name).write_text("WHOSE = 'the program'\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    ran = subprocess.run([sys.executable, "program.py", ROOT], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == {
        "early": [], "users": ["the program"] * 2, "same": True, "module": "gradbox.engine.server.wire.trace",
        "file": str(ROOT / "gradbox/wire/limits.py"), "missing": "No module named 'server.nowhere'",
        "untouched": [True] * 3, "users_import": True,
    }  # fmt: skip


def test_a_process_that_has_our_server_has_no_second_one() -> None:
    assert engine_loader.load("gradbox.wire.limits") is limits


def test_the_versions_agree() -> None:
    assert __version__ == server_version
