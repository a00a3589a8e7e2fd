"""What recording costs a training script of one's own: nothing of it, one iteration, all of it; beside other tracers.

Each figure is of a fresh process, in which a small GPT or a small ResNet (`benchmarks/own_code_models.py`) trains on
random numbers in one thread. Times are the processor's, so that a busy machine changes them less; ratios are the
medians of runs that take turns. For the iterations after the recorded one, where little is to be seen, a plain run and
a recorded one take turns at every iteration. torchlens and torchviz trace the same model once after the training, if
they can be imported: they are optional, and `pip install --target FOLDER torchlens torchviz graphviz` with `--path
FOLDER` is enough.
"""

import argparse
import ast
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.own_code_models import SCRIPTS
from gradbox.script import part_instrumentation, part_recorder, script_parts

ROOT = Path(__file__).parent.parent
TOOLS = ("torchlens", "torchviz")
WARM_UP, MIN_ITERATIONS = 5, 20
AFTER = {"recorded": "after a recorded iteration", "plain": "of another plain run", "busy": "after other work"}
EMPTY_LOOP = "for k in range(1_000_000):\n    k\n"
Result = dict[str, Any]


def run(command: list[str], folder: Path, path: str) -> Result:
    """What a script prints as its last line; {"error": …} where it fails.

    path: a folder to import from too, or ""
    """
    paths = os.pathsep.join(filter(None, (str(ROOT), path)))
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["it printed nothing"])[-1][:200]}
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def iterations(result: Result) -> list[float]:
    """The processor's seconds of each iteration."""
    return [after - before for before, after in zip(result["cpu"], result["cpu"][1:], strict=False)]


def measure(script: str, options: argparse.Namespace) -> Result:
    """All figures of one model, in seconds and bytes. Raises RuntimeError where a run of its own fails."""
    count, watched = options.iterations, options.iterations // 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.py").write_text(script)
        recorded = ["-m", "gradbox", "open", "--quiet", "--trace", "run.json"]
        ways: dict[str, list[str]] = {
            "plain": ["train.py", str(count)],
            "one": [*recorded, "--iterations", str(watched), "train.py", str(count)],
            "all": [*recorded, "train.py", str(count)],
        }
        rounds: dict[str, list[Result]] = {way: [] for way in ways}
        after: dict[str, list[float]] = {"recorded": [], "plain": [], "busy": []}
        for turn in range(options.rounds):
            for way, command in sorted(ways.items(), reverse=bool(turn % 2)):
                result = run(command, folder, "")
                if "error" in result:
                    raise RuntimeError(f"{way}: {result['error']}")
                if way != "plain":
                    result["trace"] = trace_facts(folder / "run.json")
                rounds[way].append(result)
            paced = [[*ways[way], mode] for way, mode in (("one", "paced"), ("plain", "paced"), ("plain", "busy"))]
            plain, *others = run_in_turns([[*ways["plain"], "paced"], *paced], count, folder)
            for name, other in zip(after, others, strict=True):
                after[name].append(later(iterations(other), iterations(plain), watched))
        tools = {tool: run(["train.py", "20", tool], folder, options.path) for tool in TOOLS}
    return summarize_rounds(rounds, tools, watched) | {"after": after}


def run_in_turns(commands: list[list[str]], count: int, folder: Path) -> list[Result]:
    """What scripts print at their end, when each waits with its next iteration until the others have done theirs."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen([sys.executable, *command], cwd=folder, env=environment, text=True, **pipes)
            )
            for command in commands
        ]
        pairs = [(process.stdin, process.stdout) for process in processes if process.stdin and process.stdout]
        lines = [answers.readline() for _, answers in pairs]
        for _ in range(count):
            for index, (requests, answers) in enumerate(pairs):
                requests.write("\n")
                requests.flush()
                lines[index] = answers.readline()
        return [json.loads(line) for line in lines]


def trace_facts(path: Path) -> Result:
    """How large a trace is, and of how many iterations it has steps."""
    trace = json.loads(path.read_bytes())
    seen = {step["iter"][0] for step in trace["steps"] if step.get("iter")}
    return {"bytes": path.stat().st_size, "steps": len(trace["steps"]), "iterations": len(seen)}


def summarize_rounds(rounds: dict[str, list[Result]], tools: dict[str, Result], watched: int) -> Result:
    """What is told of one model's runs."""
    plain, one = ([iterations(result) for result in rounds[way]] for way in ("plain", "one"))
    per_iteration = statistics.median(statistics.median(times) for times in plain)
    whole = [sum(iterations(result)) for result in rounds["all"]]
    return {
        "elements": rounds["plain"][0]["elements"],
        "same_loss": len({result["loss"] for results in rounds.values() for result in results}) == 1,
        "iteration": per_iteration,
        "watched": statistics.median(max(times[watched : watched + 2]) for times in one),
        "whole_run": statistics.median(a / sum(b) for a, b in zip(whole, plain, strict=True)),
        "peak": {way: statistics.median(result["peak"] for result in results) for way, results in rounds.items()},
        "traces": {way: rounds[way][-1]["trace"] for way in ("one", "all")},
        "tools": tools,
    }


def later(recorded: list[float], plain: list[float], watched: int) -> float:
    """How the iterations after the recorded one compare with those before it, to which nothing has been installed yet.

    Each is taken beside the plain run's iteration of the same moment.
    """
    ratios = [a / b for a, b in zip(recorded, plain, strict=True)]
    return statistics.median(ratios[watched + 2 :]) / statistics.median(ratios[WARM_UP:watched])


def seconds_of_a_part() -> float:
    """Seconds that a part which is not due costs each time that it begins and ends, beside an empty loop."""
    options = script_parts.PartOptions(iterations=(10**9,), lines=(1, 2))
    tree = ast.parse(EMPTY_LOOP)
    chosen = script_parts.choose_parts(tree, EMPTY_LOOP, options, "")
    watchers = part_recorder.PartRecorder("loop.py", Path(), options).create_part_watchers(chosen)
    codes = (
        compile(EMPTY_LOOP, "loop.py", "exec"),
        part_instrumentation.compile_with_watchers(tree, "loop.py", list(zip(chosen, watchers, strict=True)), None),
    )
    plain, with_part = (min(processor_seconds(partial(exec, code, {})) for _ in range(3)) for code in codes)
    return (with_part - plain) / 1_000_000


def processor_seconds(work: Callable[[], object]) -> float:
    """The processor's seconds that it takes."""
    began = time.process_time()
    work()
    return time.process_time() - began


def report(name: str, found: Result, part: float) -> str:
    """The figures in words."""
    each, peak = found["iteration"], {way: value / 2**20 for way, value in found["peak"].items()}
    one, whole = found["traces"]["one"], found["traces"]["all"]
    lines = [
        f"{name}: {found['elements']:,} elements, {each * 1000:.1f} ms an iteration; the same loss each way: "
        f"{found['same_loss']}",
        "  later iterations, beside those of a plain run of the same moment (median and each round):",
        *(
            f"    {AFTER[name]:<33}{statistics.median(ratios):.4f} {[round(ratio, 4) for ratio in ratios]}"
            for name, ratios in found["after"].items()
        ),
        f"  a part that is not due             {part * 1e9:.0f} ns, {part / each:.4%} of an iteration",
        f"  the recorded iteration             {found['watched'] / each:.0f} iterations ({found['watched']:.2f} s): "
        f"{one['steps']} steps, {one['bytes'] / 1e6:.2f} MB",
        f"  all of it recorded, thinned        {found['whole_run']:.1f} times plain: {whole['steps']} steps of "
        f"{whole['iterations']} iterations, {whole['bytes'] / 1e6:.2f} MB",
        f"  largest memory                     plain {peak['plain']:.0f} MB, one iteration {peak['one']:.0f} MB, all "
        f"{peak['all']:.0f} MB",
    ]
    for tool, result in found["tools"].items():
        told = result.get("error") or (
            f"{result['tool'] / each:.0f} iterations ({result['tool']:.2f} s), {result['peak'] / 2**20:.0f} MB"
        )
        lines.append(f"  {tool + ', one trace of the model':<34} {told}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.own_code", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", choices=SCRIPTS, action="append", help="this one; without it both")
    parser.add_argument(
        "--iterations", type=int, default=200, help=f"of each training, at least {MIN_ITERATIONS} (200)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="turns of each way (3)")
    parser.add_argument("--path", default="", help="a folder that torchlens and torchviz are imported from")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    if options.iterations < MIN_ITERATIONS:
        parser.error(
            f"--iterations: at least {MIN_ITERATIONS} are needed to compare those before the recorded one with those "
            "after"
        )
    part = seconds_of_a_part()
    for name in options.model or SCRIPTS:
        found = measure(SCRIPTS[name], options)
        print(
            json.dumps({"model": name, "part": part, **found}) if options.json else report(name, found, part),
            flush=True,
        )


if __name__ == "__main__":
    main()
