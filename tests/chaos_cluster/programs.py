"""The programs that users press Run for. Each prints a token, by which its answer is known from all others."""

import itertools
import random
import time
from dataclasses import dataclass
from typing import Any

QUICK = """\
import torch
print('{token}')
x = torch.tensor([2.0, {n}.0], requires_grad=True)
(x * x).sum().backward()
print(int(x.grad[1].item()))
"""
CLOCK = "import time\nprint('{token}')\nbegan = time.time()\nprint({twice})\n"
LONG = """\
import queue
print('{token}')
try:
    queue.Queue().get(timeout=1.5)
except queue.Empty:
    print({twice})
"""
LONG_CLOCK = "import time\nprint('{token}')\ntime.sleep(1.5)\nnow = time.time()\nprint({twice})\n"

LARGE = """\
import torch
print('{token}')
rows = [torch.rand(1024, dtype=torch.float64) for _ in range(180)]
print({twice})
"""
"""The lines of its trace are more than the broker is to hold, compressed: they go through the database."""

KINDS = ((QUICK, 10), (CLOCK, 5), (LONG, 3), (LONG_CLOCK, 3), (LARGE, 1))
"""Programs and how often each is chosen. Those with a clock give no result twice, and are not run again where one is
lost."""

SHARED = 0.1
"""Of all presses those for a program that others press Run for, too."""

SHARED_SECONDS = 3.0
"""For so long it is the same."""

_numbers = itertools.count(1_000_001)


@dataclass(frozen=True)
class Program:
    source: str
    printed: str

    @property
    def title(self) -> str:
        """Its token."""
        return self.printed.partition("\n")[0]


def create(template: str, n: int) -> Program:
    """The program of that number; it prints the token, and twice the number as its last line."""
    token = f"token {n}"
    return Program(template.format(token=token, n=n, twice=2 * n), f"{token}\n{2 * n}\n")


def choose(chance: random.Random) -> Program:
    """A program that nobody asked for before, or the one of these seconds."""
    if chance.random() < SHARED:
        return create(LONG, int(time.monotonic() / SHARED_SECONDS))
    template = chance.choices([kind for kind, _ in KINDS], [weight for _, weight in KINDS])[0]
    return create(template, next(_numbers))


def printed(trace: Any) -> str:
    """What the program of a trace has printed."""
    return "".join(entry.get("text", "") for step in trace["steps"] for entry in step["log"])


def mistake(program: Program, trace: Any) -> str:
    """Why this is not the trace of that program, or an empty string. A lost one may have less of it, and nothing
    else."""
    if program.title not in trace["program"]["source"]:
        return f"the source of another program: {trace['program']['source'][:60]!r}"
    text, lost = printed(trace), trace["outcome"]["status"] == "lost"
    if text == program.printed or (lost and program.printed.startswith(text)):
        return ""
    return f"printed {text[:60]!r} in the place of {program.printed!r}"
