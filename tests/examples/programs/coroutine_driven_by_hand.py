# An async function, driven without an event loop.
class Pause:
    def __await__(self):
        got = yield "paused"
        return got
async def work(x):
    got = await Pause()
    return x + got
task = work(2)
print(task.send(None))
try:
    task.send(4)
except StopIteration as done:
    print(done.value)
