from pathlib import Path

import torch


class Trainer:
    def __init__(self, model, settings):
        self.model, self.rounds, self.losses = model, settings["rounds"], []
        self.optimizer = torch.optim.SGD(model.parameters(), lr=settings["lr"])

    def fit(self):
        x, y = torch.randn(12, 4), torch.arange(12) % 3
        for _ in range(self.rounds):
            loss = torch.nn.functional.nll_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.losses.append(round(loss.item(), 4))
        print(self.losses)

    def save(self, path):
        Path(path).write_text("\n".join(map(str, self.losses)))
