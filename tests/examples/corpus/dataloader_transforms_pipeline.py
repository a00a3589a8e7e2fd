"""A data pipeline: a csv in memory, a Dataset with standardisation, k-fold splits."""
import csv
import io

import torch
from torch.utils.data import DataLoader, Dataset, Subset

source = io.StringIO("area,rooms,price\n50,2,100\n80,3,170\n65,2,130\n120,4,260\n95,3,200\n40,1,80\n")
rows = list(csv.DictReader(source))
print(len(rows), rows[0])


class Houses(Dataset):
    def __init__(self, rows, columns=("area", "rooms"), target="price"):
        self.x = torch.tensor([[float(r[c]) for c in columns] for r in rows])
        self.y = torch.tensor([[float(r[target])] for r in rows])
        self.mean, self.std = self.x.mean(0), self.x.std(0)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return (self.x[i] - self.mean) / self.std, self.y[i] / 100


def k_fold(n, k, seed=0):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist()
    size = n // k
    for i in range(k):
        valid = order[i * size:(i + 1) * size]
        yield [j for j in order if j not in valid], valid


data = Houses(rows)
for fold, (train, valid) in enumerate(k_fold(len(data), 3)):
    torch.manual_seed(fold)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in DataLoader(Subset(data, train), batch_size=2, shuffle=True):
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        x, y = next(iter(DataLoader(Subset(data, valid), batch_size=len(valid))))
        print(fold, valid, f"{torch.nn.functional.mse_loss(model(x), y).sqrt().item():.4f}")
