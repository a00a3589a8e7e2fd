# A default binds at once, a closure binds late.
early = [lambda x, k=k: x * k for k in range(3)]
late = [lambda x: x * k for k in range(3)]
print([f(2) for f in early], [f(2) for f in late])
