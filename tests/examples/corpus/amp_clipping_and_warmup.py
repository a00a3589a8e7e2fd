"""Mixed precision on the CPU, with accumulation, clipping, warm-up and cosine, and a logger of its own."""

import logging
import math
import sys
import time
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s", force=True)
log = logging.getLogger("train")


@dataclass
class Config:
    hidden: int = 16
    lr: float = 3e-3
    warmup: int = 3
    steps: int = 8
    accumulate: int = 2
    clip: float = 1.0
    dtype: str = "bfloat16"
    betas: tuple = field(default_factory=lambda: (0.9, 0.95))


config = Config()
log.info("%s", asdict(config))
torch.manual_seed(1337)


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.up = nn.Linear(6, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.down = nn.Linear(hidden, 3)

    def forward(self, x):
        return self.down(F.gelu(self.norm(self.up(x))))


def configure_optimizer(model, config):
    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    log.info("decayed %d, not decayed %d", sum(p.numel() for p in decay), sum(p.numel() for p in rest))
    return torch.optim.AdamW(groups, lr=config.lr, betas=config.betas)


def get_lr(step):
    if step < config.warmup:
        return (step + 1) / config.warmup
    ratio = (step - config.warmup) / (config.steps - config.warmup)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * ratio))


@contextmanager
def timed(name):
    start = time.perf_counter()
    yield
    assert time.perf_counter() - start >= 0, name


model = Net(config.hidden)
optimizer = configure_optimizer(model, config)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, get_lr)
dtype = getattr(torch, config.dtype)
context = torch.autocast(device_type="cpu", dtype=dtype) if dtype != torch.float32 else nullcontext()
scaler = torch.amp.GradScaler("cpu", enabled=dtype == torch.float16)
x, y = torch.randn(32, 6), torch.randint(0, 3, (32,))

for step in range(config.steps):
    with timed(f"step {step}"):
        for micro in range(config.accumulate):
            batch = slice(micro * 16, (micro + 1) * 16)
            with context:
                logits = model(x[batch])
                loss = F.cross_entropy(logits, y[batch]) / config.accumulate
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        scheduler.step()
    log.info("step %d loss %.4f norm %.4f lr %.5f %s", step, loss.item() * 2, norm, scheduler.get_last_lr()[0], logits.dtype)

with torch.no_grad(), context:
    hidden = model.up(x)
    print(hidden.dtype, model.norm(hidden).dtype, model.up.weight.dtype, torch.is_autocast_enabled("cpu"))
with torch.autocast("cpu", enabled=False):
    print(model(x).dtype)
print(model.up.weight.grad, torch.finfo(torch.bfloat16).eps)
try:
    torch.ones(2, dtype=torch.bfloat16).numpy()
except TypeError as error:
    log.warning(error)
