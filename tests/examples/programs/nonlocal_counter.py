# A closure that rebinds its function's name, twice over.
def counter():
    count = 0
    def tick():
        nonlocal count
        count += 1
        return count
    return tick
one, other = counter(), counter()
one()
one()
print(one(), other())
