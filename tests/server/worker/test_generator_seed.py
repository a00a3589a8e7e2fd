"""`torch.Generator.seed` in a child: without a file, and otherwise torch's own."""

from tests.forks.plain_python import run_plain

PROGRAM = """
import gc, pickle, torch
from server.worker import generator_seed

before = torch.Generator.seed.__doc__, repr(torch.Generator.seed), torch.Generator.seed.__text_signature__
torch.Generator().seed()
generator_seed.replace_seed_method()
assert before == (torch.Generator.seed.__doc__, repr(torch.Generator.seed), torch.Generator.seed.__text_signature__)
generator = torch.Generator()
values = {generator.seed() for _ in range(1000)}
assert len(values) == 1000 and all(0 <= value < 2**64 for value in values) and max(values) > 2**60
value = generator.seed()
assert generator.initial_seed() == value
first = torch.randn(3, generator=generator)
assert torch.equal(first, torch.randn(3, generator=torch.Generator().manual_seed(value)))
assert torch.seed() == torch.initial_seed() == torch.default_generator.initial_seed()
for wrong in (lambda: generator.seed(1), lambda: torch.Generator.seed(), lambda: torch.Generator.seed(3)):
    try:
        wrong()
    except TypeError:
        continue
    raise SystemExit("no TypeError")
bound = generator.seed
del generator
gc.collect()
bound()
"""


def test_generators_are_seeded_as_torch_seeds_them() -> None:
    assert run_plain(PROGRAM)["error"] is None
