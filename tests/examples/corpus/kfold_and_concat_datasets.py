"""Datasets put together and taken apart: K folds, class balance, subsets, stacking, a cache and augmentation."""

import bisect
import random
from functools import lru_cache

import numpy as np
import torch
from torch.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
)

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)


class Blobs(Dataset):
    def __init__(self, n, center, label, transform=None):
        self.points = center + 0.3 * torch.randn(n, 2)
        self.label, self.transform = label, transform

    def __len__(self):
        return len(self.points)

    @lru_cache(maxsize=None)
    def _load(self, index):
        return self.points[index].clone()

    def __getitem__(self, index):
        x = self._load(index)
        if self.transform:
            x = self.transform(x)
        return {"x": x, "y": self.label, "id": f"{self.label}-{index}"}


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


augment = Compose(lambda x: x + 0.01 * torch.randn_like(x), lambda x: x.flip(0) if random.random() < 0.5 else x)
data = ConcatDataset([Blobs(18, torch.tensor([0.0, 0.0]), 0), Blobs(6, torch.tensor([1.0, 1.0]), 1, augment)])
print(len(data), data.cumulative_sizes, bisect.bisect_right(data.cumulative_sizes, 20), data[20]["id"])

labels = torch.tensor([data[i]["y"] for i in range(len(data))])
weights = 1.0 / torch.bincount(labels).float()[labels]
sampler = WeightedRandomSampler(weights, num_samples=24, replacement=True)
loader = DataLoader(data, batch_size=8, sampler=sampler)
for batch in loader:
    print(batch["x"].shape, batch["y"].float().mean().item(), batch["id"][:2])


def kfold(n, k):
    order = np.random.permutation(n)
    folds = np.array_split(order, k)
    for i in range(k):
        yield np.concatenate(folds[:i] + folds[i + 1 :]), folds[i]


def fit(train, test):
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.2)
    for batch in DataLoader(train, batch_size=6, sampler=RandomSampler(train)):
        loss = torch.nn.functional.cross_entropy(model(batch["x"]), batch["y"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        rows = default_collate([test[i] for i in range(len(test))])
        return (model(rows["x"]).argmax(1) == rows["y"]).float().mean().item()


scores = [fit(Subset(data, train.tolist()), Subset(data, test.tolist())) for train, test in kfold(len(data), 4)]
print(f"{np.mean(scores):.3f} ± {np.std(scores):.3f}", [round(s, 2) for s in scores])


class Lines(IterableDataset):
    def __init__(self, text):
        self.text = text

    def __iter__(self):
        for line in self.text.splitlines():
            yield [float(v) for v in line.split(",")]


stream = ChainDataset([Lines("1,2\n3,4"), Lines("5,6")])
print([b for b in DataLoader(stream, batch_size=2)])
stacked = StackDataset(x=TensorDataset(torch.arange(4)), y=torch.arange(4) ** 2)
print(stacked[3], len(stacked))
print(list(BatchSampler(SequentialSampler(range(7)), 3, drop_last=True)))
big = DataLoader(TensorDataset(torch.arange(10)), batch_size=4, shuffle=True, drop_last=True, generator=torch.Generator().manual_seed(1))
print([b[0].tolist() for b in big], len(big))
