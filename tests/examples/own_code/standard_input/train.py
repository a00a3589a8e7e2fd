import sys

import torch

name = input("name? ")
numbers = [float(line) for line in sys.stdin]
print("hello", name, torch.tensor(numbers).sum())
