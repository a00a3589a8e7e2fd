# A decorator with an argument, functools.wraps, a cache, partial and reduce.
import functools
import torch
def repeated(times):
    def decorate(function):
        @functools.wraps(function)
        def inner(*args):
            return [function(*args) for _ in range(times)]
        return inner
    return decorate
@repeated(2)
def double(x):
    return x * 2
@functools.lru_cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(double(torch.ones(1)), double.__name__, fib(16), functools.reduce(torch.mul, torch.arange(1, 5)))
print(functools.partial(torch.full, (2,))(4.0))
