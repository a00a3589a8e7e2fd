import os

import torch
from torch.utils.data import Dataset


class Squares(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return torch.tensor(float(index * index)), os.getpid()
