"""A training script as repositories have them: argparse, a dataclass of settings, logging, seeding, main()."""
import argparse
import dataclasses
import json
import logging
import os
import random
from pathlib import Path

import numpy as np
import torch
from torch import nn


@dataclasses.dataclass
class Config:
    lr: float = 0.05
    epochs: int = 2
    hidden: int = 8
    out: str = "runs/exp1"
    seed: int = 7


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    os.environ["PYTHONHASHSEED"] = str(seed)


def parse_args():
    parser = argparse.ArgumentParser(description="Train a model")
    for field in dataclasses.fields(Config):
        parser.add_argument(f"--{field.name}", type=field.type, default=field.default)
    return Config(**vars(parser.parse_args([])))


def main():
    config = parse_args()
    set_seed(config.seed)
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "config.json").write_text(json.dumps(dataclasses.asdict(config), indent=2))
    logger = logging.getLogger("train")
    logger.setLevel(logging.INFO)
    handler = logging.FileHandler(out / "train.log", mode="w")
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    model = nn.Sequential(nn.Linear(2, config.hidden), nn.ReLU(), nn.Linear(config.hidden, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=config.lr)
    x = torch.rand(16, 2)
    y = (x.sum(1, keepdim=True) > 1).float()
    for epoch in range(config.epochs):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logger.info("epoch %d loss %.4f", epoch, loss.item())
        torch.save({"epoch": epoch, "state": model.state_dict()}, out / f"epoch_{epoch}.pt")
    handler.close()
    print((out / "train.log").read_text(), sorted(p.name for p in out.iterdir()))
    last = max(out.glob("epoch_*.pt"), key=lambda p: int(p.stem.split("_")[1]))
    print(last, torch.load(last)["epoch"], json.loads((out / "config.json").read_text())["lr"])


if __name__ == "__main__":
    main()
