import torch


class Squares(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        x = torch.tensor([i / self.count])
        return x, x**2
