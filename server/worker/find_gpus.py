"""`python -m server.worker.find_gpus` prints as JSON which GPUs torch can use on this machine, how much memory the
smallest has, or why torch can't use any.

It runs in a process of its own because it initializes CUDA, which a process that forks must not do.
"""

import json
import warnings

import torch


def find_gpus() -> tuple[list[str], int, str]:
    """The names of the GPUs that torch can use and the bytes of the smallest one, or the reason why there is none."""
    if not torch.backends.cuda.is_built():  # type: ignore[no-untyped-call]
        return [], 0, f"torch {torch.__version__} is built without CUDA"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            cards = [torch.cuda.get_device_properties(index) for index in range(torch.cuda.device_count())]
            for index in range(len(cards)):
                torch.ones(1, device=f"cuda:{index}").item()
        except RuntimeError as error:
            return [], 0, first_line_of_message(str(error))
    if cards:
        return [card.name for card in cards], min(card.total_memory for card in cards), ""
    said = [str(warning.message) for warning in caught if "CUDA" in str(warning.message)]
    return [], 0, first_line_of_message(said[0]) if said else "torch finds no GPU on this machine"


def first_line_of_message(message: str) -> str:
    """The first line of a message."""
    return message.strip().splitlines()[0][:300] if message.strip() else "an error without a message"


if __name__ == "__main__":
    print(json.dumps(find_gpus()))
