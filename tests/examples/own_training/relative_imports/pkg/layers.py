import torch


class Gated(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = torch.nn.Linear(width, width)
        self.value = torch.nn.Linear(width, width)

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x))
        product = gate * self.value(x)
        gate = gate * 0  # mistake saved_overwritten: gate.zero_()
        return product + gate
