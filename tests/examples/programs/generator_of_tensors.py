# A generator that keeps a tensor between its yields, and one that is closed early.
import torch
def halves(x):
    try:
        while True:
            x = x / 2
            yield x
    finally:
        print("closed")
for value in halves(torch.tensor(8.0)):
    print(value)
    if value < 2:
        break
g = halves(torch.ones(1))
print(next(g))
g.close()
