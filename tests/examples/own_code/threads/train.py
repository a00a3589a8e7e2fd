import threading

import torch

results = {}


def work(k):
    x = torch.full((2,), float(k), requires_grad=True)
    x.square().sum().backward()
    results[k] = x.grad


threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results), results[2])
