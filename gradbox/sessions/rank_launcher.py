"""`torchrun`, but that each rank is a process of ours: it records its script, or runs it as it is, as
`gradbox.script.ranks` asks.

Run as a module, with a request as JSON and the arguments of `torchrun`.
"""

import json
import sys
from pathlib import Path

from torch.distributed import run

RANK_SCRIPT = Path(__file__).parents[1] / "script/rank_script.py"


def launcher_arguments(arguments: list[str], request: str) -> list[str]:
    """The arguments of `torchrun` with our script in the place of the user's, which follows it. Ends the process, as
    `torchrun` does, where they are wrong.
    """
    parsed = run.get_args_parser().parse_args(arguments)
    if parsed.no_python:
        raise SystemExit("gradbox: --no-python runs no Python, which could be recorded")
    count = len(parsed.training_script_args) + 1
    options = arguments[:-count]
    is_module = parsed.module
    options = [option for option in options if option not in ("-m", "--module")]
    given = json.loads(request) | {"module": is_module}
    return [*options, str(RANK_SCRIPT), json.dumps(given), parsed.training_script, *parsed.training_script_args]


if __name__ == "__main__":
    run.main(launcher_arguments(sys.argv[2:], sys.argv[1]))
