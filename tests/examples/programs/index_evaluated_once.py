# The index of an augmented assignment is evaluated once.
import torch
calls = []
def where():
    calls.append("called")
    return 1
cells = torch.ones(3)
cells[where()] += 2
print(calls, cells)
