# yield, yield from, a return value, and what send brings.
def inner():
    got = yield 1
    print("got", got)
    return "done"
def outer():
    result = yield from inner()
    yield result
g = outer()
print(next(g), g.send("hello"), list(g))
