/**
 * A plain sentence beside exceptions of torch that no finding explains, chosen by the type and the stable part of the
 * message.
 */

interface ErrorGloss {
  /** of a sentence in the locales, without `gloss_` */
  key: string;
  args: Record<string, string>;
}

/** Types with `|` between; the groups of a pattern are the facts of its sentence. */
const ERROR_GLOSSES: [key: string, type: string, pattern: RegExp][] = [
  ["not_leaf_flag", "RuntimeError", /^you can only change requires_grad flags of leaf variables/],
  ["not_leaf_optimized", "ValueError", /^can't optimize a non-leaf Tensor/],
  ["grad_shape", "RuntimeError", /^(?:Mismatch in shape: grad_output|attempting to assign a gradient of size)/],
  ["item", "RuntimeError", /^a Tensor with (?<n>\d+) elements cannot be converted to Scalar/],
  ["truth", "RuntimeError", /^Boolean value of Tensor with more than one value is ambiguous/],
  ["index", "IndexError", /^index (?<index>-?\d+) is out of bounds for dimension (?<dim>\d+) with size (?<size>\d+)/],
  [
    "no_network",
    "URLError|gaierror|ConnectionError|ConnectError|OSError",
    /^<urlopen error|name resolution|couldn't connect to 'https?:/,
  ],
  [
    "one_process",
    "PermissionError|BlockingIOError",
    /^\[Errno (?:1|11)\] (?:Operation not permitted|Resource temporarily)/,
  ],
  [
    "no_such_model",
    "ModuleNotFoundError",
    /^(?:Could not import module '\w+'\. Are this object|No module named 'transformers\.models\.)/,
  ],
  ["dimension", "IndexError", /^Dimension out of range \(expected to be in range of \[(?<low>-?\d+), (?<high>-?\d+)\]/],
];

/** Null for an exception that is not known. */
export function errorGloss({ type, message }: { type: string; message: string }): ErrorGloss | null {
  for (const [key, errorType, pattern] of ERROR_GLOSSES) {
    const match = errorType.split("|").some((one) => isExceptionSubclass(type, one)) && pattern.exec(message);
    if (match) return { key, args: { ...match.groups } };
  }
  return null;
}

/** Whether an exception of this type is one of the other, as Python has it: torch raises now this one, now that. */
function isExceptionSubclass(type: string, other: string) {
  return type === other || (type === "NotImplementedError" && other === "RuntimeError");
}
