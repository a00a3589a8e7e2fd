# StopIteration in a generator becomes a RuntimeError.
def once():
    yield 1
    raise StopIteration
for value in once():
    print(value)
