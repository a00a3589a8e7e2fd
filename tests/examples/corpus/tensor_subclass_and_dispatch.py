"""Extending torch: a tensor-like class, a subclass with __torch_function__, a dispatch mode that counts."""
import functools

import torch
from torch.utils._python_dispatch import TorchDispatchMode

HANDLED_FUNCTIONS = {}


def implements(torch_function):
    def decorator(func):
        functools.update_wrapper(func, torch_function)
        HANDLED_FUNCTIONS[torch_function] = func
        return func
    return decorator


class ScalarTensor(object):
    def __init__(self, N, value):
        self._N = N
        self._value = value

    def __repr__(self):
        return "ScalarTensor(N={}, value={})".format(self._N, self._value)

    def tensor(self):
        return self._value * torch.eye(self._N)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if kwargs is None:
            kwargs = {}
        if func not in HANDLED_FUNCTIONS or not all(issubclass(t, (torch.Tensor, ScalarTensor)) for t in types):
            return NotImplemented
        return HANDLED_FUNCTIONS[func](*args, **kwargs)


@implements(torch.mean)
def mean(input):
    return float(input._value) / input._N


d = ScalarTensor(5, 2)
print(d, torch.mean(d), d.tensor()[0])
try:
    torch.add(d, 1)
except TypeError as error:
    print(str(error)[:50])


class LoggingTensor(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


t = torch.ones(3).as_subclass(LoggingTensor)
out = (t + 1).sum()
print(type(out).__name__, LoggingTensor.calls[:2])


class CountOps(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.counts = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.counts[str(func)] = self.counts.get(str(func), 0) + 1
        return func(*args, **(kwargs or {}))


with CountOps() as mode:
    torch.nn.Linear(3, 2)(torch.ones(1, 3)).relu()
print(mode.counts.get("aten.addmm.default"), mode.counts.get("aten.relu.default"))
