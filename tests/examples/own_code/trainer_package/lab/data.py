import torch
from torch.utils.data import Dataset

GENERATOR = torch.Generator().manual_seed(3)
TABLE = torch.randn(24, 4, generator=GENERATOR)


class Corpus(Dataset):
    """Rows of a table that the module makes when it is imported."""

    def __len__(self):
        return len(TABLE)

    def __getitem__(self, i):
        if i >= len(TABLE):
            raise IndexError(i)
        row = TABLE[i]
        return row, row.sum().unsqueeze(0)
