# raise ... from, inside a function, uncaught.
import torch
class ShapeError(Exception):
    """Of one's own, with an attribute."""
    def __init__(self, shape):
        super().__init__(f"bad shape {tuple(shape)}")
        self.shape = shape
def check(x):
    try:
        x.view(3)
    except RuntimeError as error:
        raise ShapeError(x.shape) from error
check(torch.ones(2, 2))
