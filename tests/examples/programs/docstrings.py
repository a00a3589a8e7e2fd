"""A module with a docstring, and a function with one."""
def f():
    """What f does."""
    return f.__doc__
print(f(), __doc__)
