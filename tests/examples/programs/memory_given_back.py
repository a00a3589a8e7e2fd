# del, rebinding and leaving a function give memory back; a list keeps it.
import torch
def local():
    big = torch.zeros(4)
    return big.sum()
kept = []
for n in range(3):
    temporary = torch.full((2,), float(n))
    if n == 1:
        kept.append(temporary)
del temporary
print(local(), kept)
