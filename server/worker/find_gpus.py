"""`python -m server.worker.find_gpus` prints which GPUs torch can use on this machine, and why it can't use any, as JSON.

It is a process of its own, for it initializes CUDA: no process that forks may do that.
"""

import json
import warnings

import torch


def find_gpus() -> tuple[list[str], str]:
    """The names of the GPUs that torch can use; where there is none, why."""
    if not torch.backends.cuda.is_built():  # type: ignore[no-untyped-call]
        return [], f"torch {torch.__version__} is built without CUDA"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
            for index in range(len(names)):
                torch.ones(1, device=f"cuda:{index}").item()
        except RuntimeError as error:
            return [], one_line(str(error))
    if names:
        return names, ""
    said = [str(warning.message) for warning in caught if "CUDA" in str(warning.message)]
    return [], one_line(said[0]) if said else "torch finds no GPU on this machine"


def one_line(message: str) -> str:
    """The first line of a message."""
    return message.strip().splitlines()[0][:300] if message.strip() else "an error without a message"


if __name__ == "__main__":
    print(json.dumps(find_gpus()))
