import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 1)

    def forward(self, x):
        gate = torch.sigmoid(self.body(x))
        gate = gate * 2  # mistake saved_overwritten: gate *= 2
        return self.head(gate)
