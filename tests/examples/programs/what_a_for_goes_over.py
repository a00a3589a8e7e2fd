# A `for` over everything: none of it is asked for more than Python asks, kept longer, or put into another order.
import gc
import sys
import traceback
import weakref

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Sized:
    def __init__(self, n):
        self.n, self.asked = n, []

    def __len__(self):
        self.asked.append("len")
        return self.n

    def __length_hint__(self):
        self.asked.append("hint")
        return self.n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        return i


class Walker(Sized):
    def __iter__(self):
        self.asked.append(f"iter {sys.getrefcount(self)}")
        return self

    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        return self.n


class Rows(Dataset):
    def __len__(self):
        print("how many rows?")
        return 5

    def __getitem__(self, i):
        return torch.tensor([i])


class OddClass(type):
    def __eq__(self, other):
        print("which class?")
        return False

    __hash__ = type.__hash__


class Odd(metaclass=OddClass):
    def __iter__(self):
        return iter("odd")


def broken(n):
    yield from range(n)
    raise ValueError("the generator is broken")


def failing_traceback(run):
    try:
        run()
    except Exception:
        print(traceback.format_exc())


def over_broken_generator():
    for item in broken(2):
        print(item)


def over_a_number():
    for _ in 5:
        pass


def over_a_changing_dict():
    table = {1: 1, 2: 2}
    for key in table:
        table[key + 10] = 0


def over_what_fails_to_start():
    for _ in enumerate(zip([1, 2], map(int, "1x"), strict=True)):
        print("pair")


for item in {16, 1, 2, 3, 4}:
    print(item, end=" ")
for item in [3, *range(2), 1]:
    print(item, end=" ")
for x in {33: 1, 1: 2}.items():
    print(x)
for sized in (Sized(2), Walker(3)):
    for item in sized:
        print(item)
    for item in reversed(Sized(2)):
        print(item)
    for place, item in enumerate(sized):
        print(place, item)
    print(sized.asked)
for letter in Odd():
    print(letter)
x = [1, 2, 3]
for x in x:
    print(x)
items = [0]
for item in items:
    if item < 3:
        items.append(item + 1)
print(items, sys.getrefcount(items))
for run in (over_broken_generator, over_a_number, over_a_changing_dict, over_what_fails_to_start):
    failing_traceback(run)
first = Walker(2)
seen = weakref.ref(first)
for item in first:
    del first
    first = None
print(seen() is None, gc.collect() >= 0)
for huge in range(10**30):
    if huge == 2:
        break
else:
    print("never")
for batch in DataLoader(Rows(), batch_size=2):
    print(batch)
for k, (batch,) in enumerate(DataLoader(TensorDataset(torch.arange(6.0)), batch_size=4, shuffle=True)):
    print(k, batch.shape, torch.rand(1))
for item in (y := [4, 5]):
    print(item, y)
for item in (lambda: (yield from [1, 2]))():
    print(item)
for a, *b in zip("ab", "cd", "ef"):
    print(a, b)
for item in broken(1):
    print(item)
