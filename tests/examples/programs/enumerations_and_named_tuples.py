# Enum, namedtuple, NamedTuple, defaultdict, Counter, deque.
import enum
from collections import Counter, defaultdict, deque, namedtuple
from typing import NamedTuple
import torch
class Mode(enum.Enum):
    TRAIN = 1
    EVAL = 2
Pair = namedtuple("Pair", "left right")
class Item(NamedTuple):
    name: str
    value: torch.Tensor = torch.zeros(1)
groups = defaultdict(list)
for n in range(4):
    groups[n % 2].append(n)
print(Mode.TRAIN, Mode(2).name, Pair(1, 2)._replace(left=4), Item("x").value, dict(groups))
print(Counter("abca").most_common(1), deque([1, 2, 3], maxlen=2))
