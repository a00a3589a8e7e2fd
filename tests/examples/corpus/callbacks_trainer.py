"""A small trainer with callbacks, as frameworks have them."""
import torch
from torch import nn


class Callback:
    def on_epoch_end(self, trainer, epoch, logs): ...
    def on_batch_end(self, trainer, batch, logs): ...


class History(Callback):
    def __init__(self):
        self.rows = []

    def on_epoch_end(self, trainer, epoch, logs):
        self.rows.append({"epoch": epoch, **{k: round(v, 4) for k, v in logs.items()}})


class Checkpoint(Callback):
    def __init__(self, path):
        self.path, self.best = path, float("inf")

    def on_epoch_end(self, trainer, epoch, logs):
        if logs["loss"] < self.best:
            self.best = logs["loss"]
            torch.save(trainer.model.state_dict(), self.path)


class GradientMonitor(Callback):
    def __init__(self):
        self.norms = []

    def on_batch_end(self, trainer, batch, logs):
        self.norms.append(sum(p.grad.norm() ** 2 for p in trainer.model.parameters()).sqrt().item())


class Trainer:
    def __init__(self, model, optimizer, loss, callbacks=()):
        self.model, self.optimizer, self.loss, self.callbacks = model, optimizer, loss, callbacks

    def notify(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, event)(self, *args)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            total = 0.0
            for batch, (x, y) in enumerate(loader):
                self.optimizer.zero_grad()
                loss = self.loss(self.model(x), y)
                loss.backward()
                self.notify("on_batch_end", batch, {"loss": loss.item()})
                self.optimizer.step()
                total += loss.item()
            self.notify("on_epoch_end", epoch, {"loss": total / len(loader)})


torch.manual_seed(0)
model = nn.Linear(2, 1)
x = torch.randn(12, 2)
data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
history, monitor = History(), GradientMonitor()
Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), nn.MSELoss(), [history, Checkpoint("best.pt"), monitor]).fit(torch.utils.data.DataLoader(data, batch_size=4), 3)
print(history.rows, len(monitor.norms))
print(torch.equal(torch.load("best.pt")["weight"], model.weight))
