# async with, async for and an async comprehension, driven by hand.
class Gate:
    async def __aenter__(self):
        return "open"
    async def __aexit__(self, *error):
        print("shut", error[0])
async def count(n):
    for k in range(n):
        yield k
async def main():
    async with Gate() as gate:
        async for k in count(2):
            print(gate, k)
    return [k * 2 async for k in count(3)]
task = main()
try:
    task.send(None)
except StopIteration as done:
    print(done.value)
