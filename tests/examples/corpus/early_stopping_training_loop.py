"""The full training loop of a course: splits, metrics, early stopping, best checkpoint, a log file."""
import csv
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class EarlyStopping:
    def __init__(self, patience=2, delta=0.0, path="checkpoint.pt"):
        self.patience, self.delta, self.path = patience, delta, path
        self.counter, self.best_score, self.early_stop, self.val_loss_min = 0, None, False, math.inf

    def __call__(self, val_loss, model):
        score = -val_loss
        if self.best_score is None or score > self.best_score + self.delta:
            self.best_score = score
            self.save_checkpoint(val_loss, model)
            self.counter = 0
        else:
            self.counter += 1
            print(f"EarlyStopping counter: {self.counter} out of {self.patience}")
            if self.counter >= self.patience:
                self.early_stop = True

    def save_checkpoint(self, val_loss, model):
        print(f"Validation loss decreased ({self.val_loss_min:.4f} --> {val_loss:.4f}).  Saving model ...")
        torch.save(model.state_dict(), self.path)
        self.val_loss_min = val_loss


torch.manual_seed(0)
X = torch.randn(40, 3)
y = (X @ torch.tensor([1.0, -2.0, 0.5])).unsqueeze(1) + 0.5 * torch.randn(40, 1)
train_set, val_set = random_split(TensorDataset(X, y), [30, 10])
train_loader, val_loader = DataLoader(train_set, batch_size=10, shuffle=True), DataLoader(val_set, batch_size=10)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))
criterion, optimizer = nn.MSELoss(), torch.optim.Adam(model.parameters(), lr=0.3)
stopper = EarlyStopping()
with open("log.csv", "w", newline="") as log:
    writer = csv.writer(log)
    writer.writerow(["epoch", "train", "val"])
    for epoch in range(1, 9):
        model.train()
        train_losses = []
        for data, target in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(data), target)
            loss.backward()
            optimizer.step()
            train_losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            val_loss = sum(criterion(model(data), target).item() for data, target in val_loader) / len(val_loader)
        writer.writerow([epoch, round(sum(train_losses) / len(train_losses), 4), round(val_loss, 4)])
        stopper(val_loss, model)
        if stopper.early_stop:
            print("Early stopping")
            break
model.load_state_dict(torch.load("checkpoint.pt", weights_only=True))
rows = list(csv.DictReader(open("log.csv")))
print(len(rows), rows[0], min(float(r["val"]) for r in rows) == round(stopper.val_loss_min, 4))
