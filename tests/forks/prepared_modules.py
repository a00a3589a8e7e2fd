"""What tests change in modules of torch and of the server, in a process that has imported them and in no other: torch
takes three seconds, the server two, and most tests need neither."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def prepare() -> None:
    """Prepare what has been imported since the last call."""
    for name, use in list(UNPREPARED.items()):
        if name in sys.modules:
            del UNPREPARED[name]
            use()


def use_one_thread() -> None:
    """Have torch compute without a pool of threads: none survives a fork, and whoever waits for one waits for ever."""
    import_module("torch").set_num_threads(1)


def fork_zygotes() -> None:
    """Have the pools of this process fork their zygotes from one that was prepared once."""
    import_module("tests.forks.prepared_zygotes").use()


def fork_assemblers() -> None:
    """Have the pools of this process fork their assemblers from one that was prepared once."""
    import_module("tests.forks.forked_assemblers").use()


def count_project_as_installed() -> None:
    """Have what is recorded in this process find the tests' own modules installed: it would observe everything at each
    step beside as many modules of a user's."""
    module: Any = import_module("gradbox.sessions.unstepped_code")
    module.INSTALLATION_FOLDERS += (f"{Path(__file__).parents[2]}/",)


UNPREPARED = {
    "torch": use_one_thread,
    "server.pool.zygote": fork_zygotes,
    "server.matrix.service": fork_zygotes,
    "server.pool.assembly": fork_assemblers,
    "gradbox.sessions.unstepped_code": count_project_as_installed,
}
"""By the name of a module, what prepares it."""
