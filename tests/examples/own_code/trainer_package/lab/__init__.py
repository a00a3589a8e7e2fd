from .data import Corpus
from .model import Net
from .trainer import Trainer
