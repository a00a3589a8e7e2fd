"""Transfer learning: a pretrained backbone, frozen; a new head; then fine-tuning with two rates."""
import copy

import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler

torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
model = nn.Sequential()
model.add_module("features", backbone)
model.add_module("fc", nn.Linear(4, 10))
torch.save(model.state_dict(), "pretrained.pth")
model_conv = copy.deepcopy(model)
model_conv.load_state_dict(torch.load("pretrained.pth", weights_only=True))
for param in model_conv.parameters():
    param.requires_grad = False
num_ftrs = model_conv.fc.in_features
model_conv.fc = nn.Linear(num_ftrs, 2)
print([name for name, p in model_conv.named_parameters() if p.requires_grad])
x, y = torch.randn(6, 3, 8, 8), torch.tensor([0, 1, 0, 1, 1, 0])
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model_conv.fc.parameters(), lr=0.1, momentum=0.9)
scheduler = lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
best_acc, best_wts = 0.0, copy.deepcopy(model_conv.state_dict())
before = model_conv.features[0].weight.clone()
for epoch in range(2):
    for phase in ["train", "val"]:
        model_conv.train(phase == "train")
        optimizer.zero_grad()
        with torch.set_grad_enabled(phase == "train"):
            outputs = model_conv(x)
            _, preds = torch.max(outputs, 1)
            loss = criterion(outputs, y)
            if phase == "train":
                loss.backward()
                optimizer.step()
        acc = torch.sum(preds == y.data).double() / len(y)
        print(f"{epoch} {phase} Loss: {loss.item():.4f} Acc: {acc:.4f}")
        if phase == "val" and acc > best_acc:
            best_acc = acc
            best_wts = copy.deepcopy(model_conv.state_dict())
    scheduler.step()
print(torch.equal(before, model_conv.features[0].weight), model_conv.features[1].running_mean.abs().sum() > 0)
model_conv.load_state_dict(best_wts)
for param in model_conv.features.parameters():
    param.requires_grad = True
optimizer = optim.Adam([{"params": model_conv.features.parameters(), "lr": 1e-4}, {"params": model_conv.fc.parameters()}], lr=1e-3)
loss = criterion(model_conv(x), y)
loss.backward()
optimizer.step()
print([group["lr"] for group in optimizer.param_groups], torch.equal(before, model_conv.features[0].weight))
