import logging
import os
from pathlib import Path

import torch
from source.step import train_step

folder = Path("outputs/run-1")
folder.mkdir(parents=True)
os.chdir(folder)
logging.basicConfig(filename="train.log", level=logging.INFO, format="%(levelname)s %(message)s")
Path("config.yaml").write_text("lr: 0.1\n")
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for k in range(3):
    loss = train_step(model, optimizer, torch.randn(6, 4))
    logging.info("round %d loss %.4f", k, loss)
print(Path.cwd().name, sorted(path.name for path in Path().iterdir()))
