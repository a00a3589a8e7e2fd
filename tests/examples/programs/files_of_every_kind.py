import csv
import glob
import json
import os
import pickle
import shutil
import tempfile
from pathlib import Path

import numpy as np
import torch

os.makedirs("runs/first", exist_ok=True)
with open("runs/first/log.txt", "w") as log:
    for epoch in range(3):
        log.write(f"epoch {epoch}: loss {1 / (epoch + 1):.3f}\n")
with open("runs/first/log.txt", "a") as log:
    print("done", file=log)
with open("runs/first/log.txt") as log:
    lines = [line.rstrip() for line in log]
print(lines, os.path.getsize("runs/first/log.txt"), repr(open("runs/first/log.txt").read(9)))
Path("runs/config.json").write_text(json.dumps({"lr": 0.1, "layers": [4, 2]}))
config = json.loads(Path("runs/config.json").read_text())
print(config, sorted(glob.glob("runs/**/*", recursive=True)))
print([str(path) for path in sorted(Path("runs").rglob("*"))], Path("runs").is_dir(), Path("x").exists())

np.save("a.npy", np.arange(6).reshape(2, 3))
np.savez("b.npz", first=np.ones(2), second=np.zeros(1))
np.savetxt("c.csv", np.eye(2), delimiter=",", fmt="%.1f")
a, b, c = np.load("a.npy"), np.load("b.npz"), np.loadtxt("c.csv", delimiter=",")
print(a, b["first"], c, open("c.csv").read())
t = torch.from_numpy(a)
t[0, 0] = 7
print(a[0, 0], np.load("a.npy")[0, 0])

with open("d.pkl", "wb") as f:
    pickle.dump({"k": torch.ones(2), "n": [1, 2]}, f)
with open("d.pkl", "rb") as f:
    d = pickle.load(f)
print(d, os.stat("d.pkl").st_size > 100)
with open("e.csv", "w", newline="") as f:
    csv.writer(f).writerows([[1, 2], ["x", "y,z"]])
print(list(csv.DictReader(open("e.csv"), fieldnames=["p", "q"])))

with tempfile.TemporaryDirectory() as folder:
    shutil.copy("a.npy", folder)
    print(os.listdir(folder), shutil.copytree("runs", os.path.join(folder, "runs")).startswith(folder))
print(os.path.exists(folder))
del folder
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as f:
    f.write("text")
    f.seek(1)
    print(f.read(), os.path.exists(f.name))
shutil.rmtree("runs")
os.rename("a.npy", "z.npy")
os.remove("b.npz")
print(sorted(os.listdir()), os.path.isfile("z.npy"), os.path.splitext("z.npy"))

for attempt in (
    lambda: open("nowhere/x", "w"),
    lambda: open("missing"),
    lambda: os.listdir("missing"),
    lambda: os.rmdir("z.npy"),
    lambda: os.mkdir("z.npy"),
    lambda: open("z.npy", "x"),
    lambda: open("z.npy").write("x"),
    lambda: open("z.npy", "wb").read(),
    lambda: open("z.npy", "rw"),
    lambda: open("z.npy", "b"),
    lambda: open("z.npy", "rb", encoding="utf-8"),
    lambda: open("z.npy", buffering=0),
    lambda: open(3.5),
    lambda: os.rename("missing", "y"),
    lambda: np.load("missing.npy"),
    lambda: np.loadtxt("missing.csv"),
    lambda: shutil.rmtree("missing"),
    lambda: Path("missing").unlink(),
):
    try:
        attempt()
    except Exception as error:
        print(type(error).__name__, error)
