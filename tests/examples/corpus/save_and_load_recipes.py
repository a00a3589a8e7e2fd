"""Saving and loading models: state_dict, the entire model, a general checkpoint, several models in one file, devices."""
import io
import os

import torch
import torch.nn as nn
import torch.optim as optim


class TheModelClass(nn.Module):
    def __init__(self):
        super(TheModelClass, self).__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Linear(6 * 14 * 14, 10)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        return self.fc1(x.view(-1, 6 * 14 * 14))


torch.manual_seed(0)
model = TheModelClass()
optimizer = optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
print("Model's state_dict:")
for param_tensor in model.state_dict():
    print(param_tensor, "\t", model.state_dict()[param_tensor].size())
print("Optimizer's state_dict:")
for var_name in optimizer.state_dict():
    print(var_name, "\t", optimizer.state_dict()[var_name])
PATH = "state_dict_model.pt"
torch.save(model.state_dict(), PATH)
model2 = TheModelClass()
model2.load_state_dict(torch.load(PATH, weights_only=True))
model2.eval()
x = torch.randn(1, 3, 32, 32)
print(torch.equal(model(x), model2(x)), os.path.getsize(PATH))
PATH = "entire_model.pt"
torch.save(model, PATH)
model3 = torch.load(PATH, weights_only=False)
model3.eval()
print(type(model3).__name__, torch.equal(model3.fc1.weight, model.fc1.weight))
loss = model(x).pow(2).mean()
loss.backward()
optimizer.step()
torch.save({"epoch": 5, "model_state_dict": model.state_dict(), "optimizer_state_dict": optimizer.state_dict(), "loss": 0.4}, "model.tar")
checkpoint = torch.load("model.tar", weights_only=True)
model2.load_state_dict(checkpoint["model_state_dict"])
opt2 = optim.SGD(model2.parameters(), lr=0.5)
opt2.load_state_dict(checkpoint["optimizer_state_dict"])
print(checkpoint["epoch"], checkpoint["loss"], opt2.param_groups[0]["lr"], len(opt2.state))
netA, netB = nn.Linear(2, 2), nn.Linear(2, 3)
torch.save({"modelA": netA.state_dict(), "modelB": netB.state_dict()}, "both.pt")
both = torch.load("both.pt", map_location=torch.device("cpu"))
netC = nn.Linear(2, 2)
print(netC.load_state_dict({**both["modelA"], "extra": torch.ones(1)}, strict=False))
buffer = io.BytesIO()
torch.save(netB, buffer)
print(len(buffer.getvalue()) > 500)
state_dict = torch.load("both.pt", mmap=False)["modelB"]
print(list(state_dict), sorted(os.listdir(".")))
try:
    netC.load_state_dict(both["modelB"])
except RuntimeError as error:
    print(str(error).splitlines()[0])
