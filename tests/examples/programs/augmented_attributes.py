# `+=` on an attribute and on dictionary items: in place or rebound by type.
import torch
class Box:
    pass
box = Box()
box.cells = torch.zeros(2)
alias = box.cells
box.cells += 2
book = {"list": [1], "count": 0}
kept = book["list"]
book["list"] += [2]
book["count"] -= 1
print(alias, kept, book)
