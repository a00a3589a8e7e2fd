import contextlib
import inspect
import warnings

import torch
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, model, data, *, rounds, on_round=None):
        self.model, self.data, self.rounds, self.on_round = model, data, rounds, on_round
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
        self.history = []

    @contextlib.contextmanager
    def phase(self, name):
        before = self.model.training
        self.model.train(name == "train")
        try:
            yield name
        finally:
            self.model.train(before)

    def batches(self):
        while True:
            yield from DataLoader(self.data, batch_size=6)

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        loss = (self.model(x) - y).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def run(self):
        with self.phase("train"):
            for k, (x, y) in zip(range(self.rounds), self.batches()):
                self.history.append(self.step(x, y))
                if self.on_round:
                    self.on_round(self, k)
        if self.history[-1] > self.history[0]:
            warnings.warn("the loss has grown", stacklevel=2)
        return inspect.getsource(self.step).count("\n")
