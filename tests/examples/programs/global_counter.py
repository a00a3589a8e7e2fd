# A function that rebinds a module name.
steps = 0
def tick(by=1):
    global steps
    steps += by
tick()
tick(by=4)
print(steps)
