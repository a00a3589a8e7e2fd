import torch


def numbers(count):
    for k in range(count):
        yield torch.tensor(float(k))


def batches(source, size):
    batch = []
    for item in source:
        batch.append(item)
        if len(batch) == size:
            yield torch.stack(batch)
            batch = []
    if batch:
        yield torch.stack(batch)
