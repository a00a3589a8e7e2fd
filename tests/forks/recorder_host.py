"""The process whose forks record programs, as the workers' first process is before it forks: see
tests.forks.fork_host."""

import importlib
import json
import resource
import traceback
import warnings

from gradbox.recorder.probes import ops
from server.worker.prepare import WARM_UP_RUNS, run_warm_up_program
from server.worker.program_run import run_program_and_exit
from server.worker.threads import run_in_thread
from tests.forks.fork_host import Request, Write, serve
from tests.support import full_observation, lifetime_log, recorder_changes  # noqa: F401 named by requests
from tests.support.tracing import CPU_SECONDS


def called(name: str | None) -> None:
    """Call `module:function`; nothing for None."""
    if name is not None:
        module, _, function = name.partition(":")
        getattr(importlib.import_module(module), function)()


def handle(request: Request, write: Write) -> None:
    """Write the lines of the job's trace, or with `missed` what its steps did not observe, as JSON.

    before: a `module:function` that is called first.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    warnings.resetwarnings()  # the strictness of tests is not the program's
    try:
        called(request["before"])
    except BaseException:
        write(json.dumps({"fault": traceback.format_exc()}).encode() + b"\n")
        return
    if request["missed"]:
        full_observation.record(request["job"], write)
    else:
        run_program_and_exit(request["job"], write)


def main(listener: int, parent: int) -> None:
    """Serve at this descriptor, in a fork of tests.forks.torch_host."""
    ops.register_recording_kernels()
    for _ in range(WARM_UP_RUNS):
        run_in_thread(run_warm_up_program)
    serve(listener, parent, handle)
