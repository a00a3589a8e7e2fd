import lightning
import torch


class Regressor(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 8)
        self.head = torch.nn.Linear(8, 1)
        self.losses = []

    def training_step(self, batch, index):
        x, y = batch
        hidden = torch.sigmoid(self.body(x))
        hidden = hidden + 1  # mistake saved_overwritten: hidden += 1
        loss = (self.head(hidden) - y).pow(2).mean()
        self.losses.append(round(loss.item(), 4))
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)
