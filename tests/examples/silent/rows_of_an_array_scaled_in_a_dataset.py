# shared_memory at 17: values, self.table
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

np.random.seed(0)
SCALE = (2.0, 4.0)


class Rows(Dataset):
    def __init__(self):
        self.table = np.random.rand(24, 2, 5).astype(np.float32)

    def __getitem__(self, k):
        values = self.table[k]
        for column in range(2):
            values[column] *= SCALE[column]
        return values

    def __len__(self):
        return len(self.table)


loader = DataLoader(Rows(), batch_size=6)
for epoch in range(8):
    total = 0.0
    for rows in loader:
        total += rows.mean().item()
    print(epoch, total)
