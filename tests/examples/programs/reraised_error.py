# A bare raise in a handler keeps the first line.
import torch
def risky():
    return torch.ones(2)[4]
try:
    risky()
except IndexError as error:
    print("seen", error)
    raise
