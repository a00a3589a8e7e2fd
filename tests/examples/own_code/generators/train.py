import torch
from pipeline import batches, numbers

for batch in batches(numbers(5), 2):
    print(batch)
