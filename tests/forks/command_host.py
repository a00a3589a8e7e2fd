"""The process whose forks run commands of `gradbox`, and which has imported all of it: see tests.forks.fork_host."""

from gradbox.recorder.probes import ops
from gradbox.script import checked_script, recorded_script  # noqa: F401 what the process of a script begins with
from tests.forks import forked_command, forked_pytest, forked_script  # noqa: F401 named by requests
from tests.forks.fork_host import serve
from tests.forks.plain_host import handle


def main(listener: int, parent: int) -> None:
    """Serve at this descriptor, in a fork of tests.forks.torch_host."""
    ops.register_recording_kernels()
    serve(listener, parent, handle)
