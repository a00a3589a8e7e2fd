from .model import Net
from .training import train

__all__ = ["Net", "train"]
