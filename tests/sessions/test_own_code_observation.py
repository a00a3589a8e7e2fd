"""A step of one's own code observes what its statement may have changed, though code beside it has no steps."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from gradbox.sessions.unstepped_code import folders_of_installed_packages
from tests.agreement.test_agreement import PROGRAMS
from tests.forks.fork_host import ForkHost
from tests.recorder.test_observer import HIDDEN
from tests.support.sampling import every, sampled

pytestmark = pytest.mark.slow

HOST = ForkHost("tests.forks.session_host", "SESSION_HOST")
BEGIN = "import torch\nx = torch.ones(2)\nitems = []\n"


def observed(source: str, as_it_is: bool = False, **modules: str) -> dict[str, Any]:
    """What tests.forks.session_host says of a program and of what its steps missed.

    modules: beside it, not stepped
    """
    answer = HOST.ask(source=source, limits={}, as_it_is=as_it_is, modules=modules, missed=True)
    result: dict[str, Any] = pickle.loads(answer)
    assert not any(b"tracer_fault" in line for line in result["lines"])
    return result


@pytest.mark.parametrize("path", sampled(PROGRAMS, every(12)), ids=lambda path: path.stem)
@pytest.mark.parametrize("as_it_is", [False, True])
def test_a_step_of_own_code_observes_every_change(path: Any, as_it_is: bool) -> None:
    assert observed(path.read_text(), as_it_is)["missed"] == []


@pytest.mark.parametrize("as_it_is", [False, True])
@pytest.mark.parametrize("source", HIDDEN)
def test_changes_that_the_text_hides_are_observed_in_own_code(source: str, as_it_is: bool) -> None:
    assert observed(f"{BEGIN}{source}\nlast = 0\n", as_it_is)["missed"] == []


LIBRARIES = {
    "a list of its own": ("kept = []\ndef keep(v):\n    kept.append(v)\ndef grow():\n    kept[0].append(1)\n",
                          "lib.keep(items)\nlib.grow()"),
    "a class's attribute": ("class Registry:\n    kept = {}\ndef grow():\n    Registry.kept['a'].append(1)\n",
                            "lib.Registry.kept['a'] = items\nlib.grow()"),
    "a tensor that it marks": ("kept = []\ndef mark():\n    kept[0].requires_grad_()\n", "lib.kept.append(x)\nlib.mark()"),  # noqa: E501
    "a gradient that it drops": ("kept = []\ndef drop():\n    kept[0].grad = None\n",
                                 "w = x.requires_grad_()\nlib.kept.append(w)\n(w * 2).sum().backward()\nlib.drop()"),
    "a closure": ("def maker(v):\n    def grow():\n        v.append(1)\n    return grow\n",
                  "g = lib.maker(items)\ng()"),
    "a function with a default": ("def set_up(v):\n    global grow\n    def grow(to=v):\n        to.append(1)\n",
                                  "lib.set_up(items)\nlib.grow()"),
    "a frame that waits": ("def run(v, callback):\n    held = [v]\n    for k in range(3):\n        held[0].append(k)\n"
                           "        callback()\n        held[0].append(-k)\n",
                           "def callback():\n    y = 1\n    z = y\nlib.run(items, callback)"),
    "numpy on memory that it got": ("def clear(t):\n    t.numpy()[:] = 0\n", "big = torch.ones(9000)\nlib.clear(big)"),
    "a thread": ("import threading\ndef start(v):\n    go = threading.Event()\n"
                 "    threading.Thread(target=lambda: (go.wait(), v.append(1)), daemon=True).start()\n    return go\n",
                 "go = lib.start(items)\ngo.set()\ngo = None\nimport time\ntime.sleep(0.05)\ny = 1"),
    "an iterator over what it keeps": ("kept = []\ndef each():\n    for v in kept:\n        v.append(1)\n        yield v\n",  # noqa: E501
                                       "lib.kept.append(items)\nfor v in lib.each():\n    y = 1"),
}  # fmt: skip
"""What a module without steps changes, and the program that has it do so."""


@pytest.mark.parametrize("as_it_is", [False, True])
@pytest.mark.parametrize("name", LIBRARIES)
def test_what_a_module_without_steps_changes_is_observed(name: str, as_it_is: bool) -> None:
    module, program = LIBRARIES[name]
    result = observed(f"{BEGIN}import lib\n{program}\nlast = 0\n", as_it_is, lib=module)
    assert result["error"] is None
    assert result["missed"] == []


def test_what_another_file_that_is_stepped_binds_is_observed() -> None:
    assert (
        observed(f"{BEGIN}import lib\nlib.kept.append(items)\nlib.kept[0].append(1)\nlast = 0\n", lib="kept = []\n")[
            "missed"
        ]
        == []
    )


EPISODE = """
import torch
import lib
net = torch.nn.Linear(3, 2)
saved = []
def act(s):
    p = torch.softmax(net(s), -1)
    saved.append(lib.log(p)[0])
    return p.argmax().item()
for t in range(12):
    act(torch.ones(3))
loss = torch.stack(saved).sum()
loss.backward()
"""


@pytest.mark.parametrize("as_it_is", [False, True])
def test_only_the_first_steps_of_own_code_observe_everything(as_it_is: bool) -> None:
    result = observed(EPISODE, as_it_is, lib="import torch\nhistory = []\ndef log(p):\n    return torch.log(p)\n")
    assert result["missed"] == []
    assert len(result["lines"]) > 70
    assert len(result["everything"]) <= 3


def test_a_folder_that_pip_filled_is_of_installed_packages_and_one_with_scripts_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled, project, scripts = (tmp_path / name for name in ("filled", "project", "scripts"))
    for folder in (filled, project, scripts):
        folder.mkdir()
        (folder / "train.py").touch()
    for folder in (filled, project):
        (folder / "fast-1.0.dist-info").mkdir()
    monkeypatch.chdir(project)
    assert [*folders_of_installed_packages(["", str(project), str(scripts), str(filled)])] == [str(filled)]
