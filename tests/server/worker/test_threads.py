"""Which import started a thread, and what the operator reads about it; a thread that ends is harmless."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
STAYS = "threading.Thread(target=time.sleep, args=(600,), name='{}', daemon=True).start()"
BEGINNING = """
import threading, time
from server.worker import threads
threads.PATIENCE_SECONDS = 0.05
"""


def said_by(code: str, folder: Path, modules: dict[str, str] | None = None, **more: str) -> str:
    """What a fresh process prints, and the end of what it raises.

    modules, more: the text of modules in its folder, by name
    """
    for name, text in {**(modules or {}), **more}.items():
        path = folder / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"import threading, time\n{textwrap.dedent(text)}\n")
    result = subprocess.run(
        [sys.executable, "-c", BEGINNING + textwrap.dedent(code)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return (result.stdout + result.stderr.strip().rpartition("\n")[2]).strip()


REQUIRE = "threads.require_one_thread(); print('one')"


def test_a_process_with_one_thread_passes(tmp_path: Path) -> None:
    assert said_by(REQUIRE, tmp_path) == "one"


def test_a_thread_is_reported_with_the_import_that_started_it(tmp_path: Path) -> None:
    code = f"with threads.tracking_thread_origins():\n    import hostile, html\n{REQUIRE}"
    assert said_by(code, tmp_path, hostile=STAYS.format("hostile-bg")) == (
        "RuntimeError: the process that forks has a second thread, 'hostile-bg', started by import hostile; "
        "remove hostile from Gradbox's environment or update it"
    )


def test_a_module_of_a_package_is_named_in_full(tmp_path: Path) -> None:
    code = f"with threads.tracking_thread_origins():\n    import hostile\n{REQUIRE}"
    modules = {"hostile.__init__": "from .inner import x", "hostile.inner": f"x = 1\n{STAYS.format('bg')}"}
    assert "'bg', started by import hostile.inner; remove hostile from" in said_by(code, tmp_path, modules)


@pytest.mark.parametrize(
    "later", ["import html.parser", "from html import parser", "from calm import x", "import calm"]
)
def test_what_a_module_imports_later_is_not_blamed(later: str, tmp_path: Path) -> None:
    code = f"with threads.tracking_thread_origins():\n    import hostile\n{REQUIRE}"
    said = said_by(code, tmp_path, hostile=f"{STAYS.format('bg')}\n{later}", calm="x = 1")
    assert "started by import hostile; remove hostile" in said


def test_an_import_that_raises_is_blamed_all_the_same(tmp_path: Path) -> None:
    code = f"""
    with threads.tracking_thread_origins():
        try:
            import hostile
        except ValueError:
            pass
        threads.register_thread_origin("something later")
    {REQUIRE}
    """
    said = said_by(code, tmp_path, hostile=f"import html.parser\n{STAYS.format('bg')}\nraise ValueError")
    assert "'bg', started by" in said and "hostile" in said


def test_each_of_several_threads_is_reported(tmp_path: Path) -> None:
    code = f"with threads.tracking_thread_origins():\n    import first\n    import second\n{REQUIRE}"
    assert said_by(code, tmp_path, first=STAYS.format("a"), second=f"{STAYS.format('b')}; {STAYS.format('c')}") == (
        "RuntimeError: the process that forks has 4 threads, 'a', started by import first, "
        "and 'b' and 'c', started by import second; remove first from Gradbox's environment or update it; "
        "remove second from Gradbox's environment or update it"
    )


def test_a_package_that_cannot_be_removed_is_to_be_replaced(tmp_path: Path) -> None:
    code = f"with threads.tracking_thread_origins():\n    import sympy\n{REQUIRE}"
    said = said_by(code, tmp_path, sympy=STAYS.format("bg"))
    assert said.endswith("started by import sympy; install another version of sympy in Gradbox's environment")


def test_a_thread_that_python_does_not_know_has_the_kernels_name(tmp_path: Path) -> None:
    code = f"""
    import _thread
    def work():
        open("/proc/thread-self/comm", "w").write("jemalloc_bg_thd")
        time.sleep(600)
    _thread.start_new_thread(work, ())
    time.sleep(0.05)
    threads.register_thread_origin("the warm-up")
    {REQUIRE}
    """
    assert said_by(code, tmp_path) == (
        "RuntimeError: the process that forks has a second thread, 'jemalloc_bg_thd', started by the warm-up"
    )


def test_a_thread_of_unknown_origin_is_reported_as_such(tmp_path: Path) -> None:
    assert said_by(f"{STAYS.format('bg')}\n{REQUIRE}", tmp_path).endswith("'bg', started by an unknown call")


def test_a_thread_that_ends_in_a_moment_does_no_harm(tmp_path: Path) -> None:
    code = "threads.PATIENCE_SECONDS = 10\nthreading.Thread(target=time.sleep, args=(0.1,)).start()\n"
    assert said_by(code + REQUIRE, tmp_path) == "one"


def test_what_python_runs_at_its_start_is_named(tmp_path: Path) -> None:
    code = f"with threads.tracking_thread_origins():\n    import html\n{REQUIRE}"
    said = said_by(code, tmp_path, sitecustomize=STAYS.format("bg"))
    assert said.startswith(
        "RuntimeError: the process that forks has a second thread, 'bg', started by what Python runs "
    )
    assert f"{tmp_path}/sitecustomize.py" in said
    assert said.endswith("; remove that file, or the package that it belongs to, from Gradbox's environment")


def test_the_import_function_is_restored_afterwards(tmp_path: Path) -> None:
    code = """
    import builtins
    before = builtins.__import__
    try:
        with threads.tracking_thread_origins():
            import absent
    except ImportError:
        print(builtins.__import__ is before)
    """
    assert said_by(code, tmp_path) == "True"


def test_a_thread_of_our_own_has_ended_afterwards_and_raises_what_its_function_raised(tmp_path: Path) -> None:
    code = f"""
    def fail():
        raise LookupError("it failed")
    try:
        threads.run_in_thread(fail)
    except LookupError as error:
        print(error)
    {REQUIRE}
    """
    assert said_by(code, tmp_path) == "it failed\none"
