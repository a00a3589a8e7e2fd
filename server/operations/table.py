"""What a row of the catalogue's tables is written with."""

from dataclasses import dataclass

from server.wire.operations import Kind


@dataclass(frozen=True)
class Hole:
    """An operand of a template. proposed: the text to write there. sample: makes a fitting one in the row's example.

    Without either, the example has the sample of the kind.
    """

    name: str
    kind: Kind
    proposed: str | None = None
    sample: str | None = None


@dataclass(frozen=True)
class OperationRow:
    """One operation. Its sentence is `NAME` in static/locales/operations.en.json and operations.zh.json.

    template: one statement. siblings: names of rows. imports: modules besides torch. inside: a statement that the
    example puts around the template, like `with torch.no_grad():`.
    """

    name: str
    template: str
    holes: tuple[Hole, ...] = ()
    siblings: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    inside: str | None = None


def hole(name: str, kind: Kind = "tensor", sample: str | None = None) -> Hole:
    """An operand that the program has to have; by default a tensor."""
    return Hole(name, kind, sample=sample)


def number(name: str, proposed: str) -> Hole:
    return Hole(name, "number", proposed)


def integer(name: str, proposed: int) -> Hole:
    return Hole(name, "int", str(proposed))


def shape(proposed: str) -> Hole:
    """Sizes, as the arguments of a call."""
    return Hole("shape", "shape", proposed)
