# deepcopy_nonleaf: hidden
import copy
import torch
from torch import nn

class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRUCell(2, 2)
        self.hidden = torch.zeros(1, 2)

    def forward(self, x):
        self.hidden = self.rnn(x, self.hidden)
        return self.hidden

agent = Agent()
agent(torch.ones(1, 2))
snapshot = copy.deepcopy(agent)  # cause
