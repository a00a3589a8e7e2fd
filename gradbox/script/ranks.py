"""Records ranks of a script that `torchrun` starts, and compares the parameters of all ranks."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from gradbox.installation import PACKAGE_FOLDER
from gradbox.script.interrupts import restore_default_sigint, sigint_ignored
from gradbox.script.script_process import (
    RecordingResult,
    Script,
    read_recorded_runs,
    signal_forwarded,
    stdout_of_process,
)
from gradbox.script.trace_line_files import SCRIPT_FILE

TORCHRUN_NAMES = ("torchrun", "torch.distributed.run", "torch.distributed.launch")
PARAMETERS_FILE = "parameters"
DIFFERENT_VALUES_MESSAGE = "have different values"
MAX_NAMED = 3
"""Parameters that a message names."""

RUN_LAUNCHER = "import runpy; runpy.run_module('gradbox.sessions.rank_launcher', run_name='__main__')"


def torchrun_arguments(target: str, arguments: Sequence[str]) -> list[str] | None:
    """The arguments of `torchrun` in a command like `torchrun …` or `python -m torch.distributed.run …`; None for other
    commands."""
    if Path(target).name in TORCHRUN_NAMES:
        return list(arguments)
    if (
        Path(target).name.startswith("python")
        and list(arguments[:1]) == ["-m"]
        and arguments[1:2]
        and (arguments[1] in TORCHRUN_NAMES)
    ):
        return list(arguments[2:])
    return None


def record_ranks(script: Script, arguments: Sequence[str], ranks: Sequence[int], language: str) -> RecordingResult:
    """Run `torchrun` to its end, and return what was recorded of these ranks. Raises OSError if it can't be started.

    arguments: the arguments of `torchrun`
    """
    with tempfile.TemporaryDirectory(prefix="gradbox-") as name:
        folder = Path(name)
        request = {
            "folder": name, "ranks": list(ranks), "also": script.also, "quiet": True,
            "limits": {} if script.steps is None else {"steps": script.steps},
            "stdout_to_stderr": script.stdout_to_stderr, "script_only": script.script_only,
            "parts": None if script.parts is None else asdict(script.parts),
        }  # fmt: skip
        code = f"import sys; sys.path[0] = {str(PACKAGE_FOLDER.parent)!r}; {RUN_LAUNCHER}"
        with sigint_ignored():
            process = subprocess.Popen(
                [sys.executable, "-c", code, json.dumps(request), *arguments],
                preexec_fn=restore_default_sigint, stdout=stdout_of_process(script),
            )  # fmt: skip
            with signal_forwarded(signal.SIGTERM, process):
                return_code = process.wait()
        runs = {}
        for rank in ranks:
            of_rank = folder / f"rank-{rank}"
            if not of_rank.is_dir():
                continue
            for label, run in read_recorded_runs(of_rank, script, 0, language).items():
                label = f"rank {rank}, {label}" if label else f"rank {rank}"
                run.title = f"{(folder / SCRIPT_FILE).read_text()}: {label}"
                runs[label] = run
        status = return_code if return_code >= 0 else 128 - return_code
        notes = list(parameter_difference_sentences(read_rank_parameters(folder), uncalled_wrappers(folder)))
        return RecordingResult(
            runs, status, notes=notes, differ=any(DIFFERENT_VALUES_MESSAGE in note for note in notes)
        )


Parameters = dict[int, dict[int, dict[str, list[object]]]]
"""By rank and round: what `rank_parameters` wrote of each parameter."""


def read_rank_parameters(folder: Path) -> Parameters:
    """Read what the ranks wrote of their parameters."""
    parameters: Parameters = {}
    for file in folder.glob(f"{PARAMETERS_FILE}-*"):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        parameters[int(file.name.rpartition("-")[2])] = {row["round"]: row["parameters"] for row in rows}
    return parameters


def uncalled_wrappers(folder: Path) -> list[str]:
    """The names of wrappers for distributed training whose forward no rank has called."""
    last = [file.read_text().splitlines()[-1:] for file in folder.glob(f"{PARAMETERS_FILE}-*")]
    names = [json.loads(line)["uncalled"] for lines in last for line in lines]
    return [name for name in names[0] if all(name in others for others in names)] if names else []


def parameter_difference_sentences(parameters: Parameters, uncalled: Sequence[str] = ()) -> Iterator[str]:
    """Yield a sentence that says which parameters differ between two ranks and since which round; nothing if there is
    nothing to compare.

    uncalled: the names of wrappers for distributed training whose forward no rank has called
    """
    reason = "nothing keeps them the same"
    if uncalled:
        reason = (
            f"the forward of {uncalled[0]}, which averages gradients, was never called. Call {uncalled[0]}(…), not the "
            "module in it"
        )
    ranks = sorted(parameters)
    if len(ranks) < 2:
        return
    compared: tuple[int, int] | None = None
    for number in sorted(set.intersection(*(set(parameters[rank]) for rank in ranks))):
        first = parameters[ranks[0]][number]
        for rank in ranks[1:]:
            other = parameters[rank][number]
            names = [name for name in first if name in other and first[name][0] == other[name][0]]
            different = [name for name in names if first[name] != other[name]]
            if not names:
                continue
            compared = number, len(names)
            if different:
                where = f"after round {number} ranks {ranks[0]} and {rank} {DIFFERENT_VALUES_MESSAGE}"
                if len(different) == len(names):
                    yield f"{where} in all {len(names)} parameters: {reason}"
                else:
                    listed = ", ".join(different[:MAX_NAMED]) + (" …" if len(different) > MAX_NAMED else "")
                    count = len(names) - len(different)
                    others = f"the other {count} are the same" if count > 1 else "the other one is the same"
                    yield f"{where} in {listed}; {others}"
                return
    if compared is not None:
        yield f"{compared[1]} parameters are the same on all {len(ranks)} ranks, as far as after round {compared[0]}"
