# sep, end and flush; an empty call.
print("a", end="")
print("b", "c", sep="-", end=";\n", flush=True)
print()
print(None, True, 1.5, [1, "two"], sep="\n")
