# Literals, captures, sequences, mappings, classes, guards and alternatives.
import torch
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    y: int
def tell(thing):
    match thing:
        case torch.Tensor(): return "tensor"
        case 0 | 1: return "small"
        case int(n) if n > 8: return f"big {n}"
        case [first, *rest]: return f"list {first} {rest}"
        case {"op": op, **more}: return f"op {op} {more}"
        case Point(x=0, y=y): return f"on the axis {y}"
        case None: return "none"
        case _: return "other"
for thing in (1, 9, [1, 2, 3], {"op": "add", "k": 1}, Point(0, 4), torch.ones(1), None, "text"):
    print(tell(thing))
