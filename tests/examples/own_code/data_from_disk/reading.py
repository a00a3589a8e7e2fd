import csv

import torch


def read(path):
    with path.open(newline="") as file:
        return torch.tensor([[float(cell) for cell in row] for row in csv.reader(file)])
