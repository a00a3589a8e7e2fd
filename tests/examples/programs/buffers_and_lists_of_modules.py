# A buffer, a ModuleList and a ParameterDict, walked by name.
import torch
from torch import nn
class House(nn.Module):
    def __init__(self):
        super().__init__()
        self.rooms = nn.ModuleList(nn.Identity() for _ in range(2))
        self.keys = nn.ParameterDict({"front": nn.Parameter(torch.ones(1))})
        self.register_buffer("age", torch.tensor(4))
    def forward(self, x):
        self.age += 1
        return x * self.keys["front"]
house = House()
print(house(torch.ones(1)), house.age)
print([n for n, _ in house.named_modules()], sorted(house.state_dict()))
