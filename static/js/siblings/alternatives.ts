/**
 * What may stand in the place of a statement: its operation is found in the catalogue, its operands go into the
 * siblings' templates.
 */

import { weakMemoize } from "../trace/weak_memoize.ts";
interface Operand {
  name: string;
  kind: string;
  proposed?: string;
}

/** as `/api/operations` gives it */
export interface Operation {
  name: string;
  group: string;
  template: string;
  operands: Operand[];
  imports: string[];
  sentence: string;
  siblings: string[];
}

export interface StatementAlternative {
  name: string;
  /** the whole line */
  text: string;
  /** what differs of it */
  label: string;
  sentence: string;
  /** statements that it needs */
  imports: string[];
}

interface OperationMatch {
  operation: Operation;
  values: Map<string, string>;
  indent: string;
  remark: string;
}

const NAME_PATTERN = "[A-Za-z_]\\w*";
const NUMBER_PATTERN = "-?(?:\\d+\\.?\\d*|\\.\\d+)(?:e-?\\d+)?";
/** How an operand is written that is no name of the program. */
const LITERAL_PATTERNS: Record<string, string> = {
  number: NUMBER_PATTERN,
  int: "-?\\d+",
  numbers: "\\[[^#'\"]*\\]",
  shape: "\\(?-?\\w+(?:,\\s*-?\\w+)*,?\\)?",
  sizes: "\\([^()'\"]*\\)",
  indices: "\\[[\\d,\\s-]*\\]",
  dtype: "torch\\.\\w+",
  device: "[\"'][\\w:]+[\"']",
  name: NAME_PATTERN,
};
/** Kinds of operands that are names of something else than a tensor. */
const NON_TENSOR_KINDS = ["module", "module with grads", "optimizer", "state", "function", "anything", "array"];

const isTensorOperand = ({ kind }: Operand) => !(kind in LITERAL_PATTERNS) && !NON_TENSOR_KINDS.includes(kind);

/** `isTensorName` says whether a name is bound to a tensor at the line. */
export function alternativesToStatement(
  line: string,
  catalogue: Operation[],
  isTensorName: (name: string) => boolean,
): StatementAlternative[] {
  const match = mostSpecificOperation(line, catalogue, isTensorName);
  if (!match) return [];
  const { operation, indent, remark, values } = match;
  const currentCode = fillTemplate(operation, match);
  const alternativesByCode = new Map<string, StatementAlternative>();
  for (const sibling of siblingOperations(operation, catalogue)) {
    const code = fillTemplate(sibling, match);
    if (!code || code === currentCode || alternativesByCode.has(code)) continue;
    const { name, sentence, imports } = sibling;
    alternativesByCode.set(code, {
      name,
      text: indent + code + remark,
      label: alternativeLabel(code, values.get("out")),
      sentence,
      imports,
    });
  }
  return [...alternativesByCode.values()];
}

/** Its own, and those that it is a sibling of. */
function siblingOperations({ name, siblings }: Operation, catalogue: Operation[]) {
  const ownSiblings = siblings
    .map((sibling) => catalogue.find((other) => other.name === sibling))
    .filter((found) => !!found);
  return [
    ...ownSiblings,
    ...catalogue.filter((other) => other.siblings.includes(name) && !siblings.includes(other.name)),
  ];
}

/** The most particular operation that a line is. */
function mostSpecificOperation(
  line: string,
  catalogue: Operation[],
  isTensorName: (name: string) => boolean,
): OperationMatch | null {
  const [, indent = "", code = "", remark = ""] = /^(\s*)([^#]*?)(\s*#.*|\s*)$/.exec(line) ?? [];
  for (const { operation, groups } of code ? matchingOperations(code, catalogue) : []) {
    const hasTensors = operation.operands.every(
      (operand) => !isTensorOperand(operand) || isTensorName(groups[operand.name]),
    );
    if (hasTensors) return { operation, values: new Map(Object.entries(groups)), indent, remark };
  }
  return null;
}

/** What was found for statements that were read, by their text: the steps of a loop ask for the same ones again and
 * again. */
const cachedMatchesByCatalogue = new WeakMap<
  Operation[],
  Map<string, { operation: Operation; groups: Record<string, string> }[]>
>();
/** So many of them are kept. */
const MAX_CACHED_MATCHES = 500;

/** The operations that a statement can be by its text alone, the most particular first. */
function matchingOperations(code: string, catalogue: Operation[]) {
  const matchesByCode: Map<string, { operation: Operation; groups: Record<string, string> }[]> =
    cachedMatchesByCatalogue.get(catalogue) ?? new Map();
  cachedMatchesByCatalogue.set(catalogue, matchesByCode);
  const known = matchesByCode.get(code);
  if (known) return known;
  const matchedOperations = sortedBySpecificity(catalogue).flatMap((operation) => {
    const groups = patternOfTemplate(operation).exec(code)?.groups;
    return groups ? [{ operation, groups }] : [];
  });
  if (matchesByCode.size >= MAX_CACHED_MATCHES) matchesByCode.clear();
  matchesByCode.set(code, matchedOperations);
  return matchedOperations;
}

/** The operations of one line, those with the longest text of their own first. */
const sortedBySpecificity = weakMemoize((catalogue: Operation[]): Operation[] => {
  const lengths = catalogue
    .filter(({ template }) => !template.includes("\n"))
    .map((operation) => {
      const { template } = operation;
      return { operation, length: template.replace(/\{\w+\}/g, "").length + repeatedPlaceholderCount(template) / 10 };
    });
  return lengths.sort((a, b) => b.length - a.length).map(({ operation }) => operation);
});

/** How often a template has a placeholder that it had before. */
function repeatedPlaceholderCount(template: string) {
  const placeholders = template.match(/\{\w+\}/g) ?? [];
  return placeholders.length - new Set(placeholders).size;
}

const templatePatternCache = new Map<string, RegExp>();

/** A pattern with a group for each placeholder. */
function patternOfTemplate({ template, operands }: Operation): RegExp {
  const cached = templatePatternCache.get(template);
  if (cached) return cached;
  const kinds = new Map(operands.map(({ name, kind }) => [name, kind]));
  const seenPlaceholders = new Set();
  const source = template
    .split(/(\{\w+\})/)
    .map((part) => {
      const operandName = /^\{(\w+)\}$/.exec(part)?.[1];
      if (!operandName) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ /g, "\\s*");
      if (seenPlaceholders.has(operandName)) return `\\k<${operandName}>`;
      seenPlaceholders.add(operandName);
      return `(?<${operandName}>${LITERAL_PATTERNS[kinds.get(operandName) ?? ""] ?? NAME_PATTERN})`;
    })
    .join("");
  const pattern = new RegExp(`^${source}$`);
  templatePatternCache.set(template, pattern);
  return pattern;
}

/** An operation with the operands of a statement; null where one of its own is missing. */
function fillTemplate(operation: Operation, { operation: matched, values }: OperationMatch): string | null {
  const { template, operands, group } = operation;
  if (template.includes("\n")) return null;
  const ownOperands = new Set(operands.map(({ name }) => name));
  const unusedOperands = matched.operands.filter(({ name }) => !ownOperands.has(name));
  const operandValues = new Map(values);
  for (const operand of operands) {
    if (values.has(operand.name)) continue;
    const unusedIndex = unusedOperands.findIndex((other) => isTensorOperand(other) || other.kind === "number");
    const takesUnused = unusedIndex >= 0 && (isTensorOperand(operand) || operand.kind === "number");
    const value = takesUnused
      ? values.get(unusedOperands.splice(unusedIndex, 1)[0].name)
      : (operand.proposed ?? (isTensorOperand(operand) && group === "copy" ? values.get("a") : undefined));
    if (value === undefined) return null;
    operandValues.set(operand.name, value);
  }
  const firstOperand = values.get(matched.operands[0]?.name ?? "");
  const resultName = values.get("out") ?? firstOperand;
  if (resultName === undefined) return null;
  operandValues.set("out", resultName);
  const code = template.replace(/\{(\w+)\}/g, (_, name) => operandValues.get(name) ?? "");
  const keepsName = template.includes("{out}") || !values.has("out");
  if (keepsName) return code;
  return /^\{\w+\}\.\w+_\(/.test(template) ? `${resultName} = ${code}` : resultName === firstOperand ? code : null;
}

/** Without the name that the line gives its result. */
function alternativeLabel(code: string, resultName: string | undefined) {
  const expression =
    resultName !== undefined && code.startsWith(`${resultName} = `) ? code.slice(resultName.length + 3) : code;
  return /^\w+$/.test(expression) ? `= ${expression}` : expression;
}

/**
 * The edits that put it in the place of a line, with the imports that it needs, and the line where it stands then;
 * lines count from 1.
 */
export function editsReplacingLine(
  source: string,
  line: number,
  { text, imports }: StatementAlternative,
): { edits: { line: number; old: string; new: string }[]; line: number } {
  const lines = source.split("\n");
  const missingImports = imports.map((name) => `import ${name}`).filter((statement) => !lines.includes(statement));
  const edits = new Map([[line, text]]);
  if (missingImports.length) edits.set(1, [...missingImports, edits.get(1) ?? lines[0]].join("\n"));
  return {
    edits: [...edits].map(([lineNumber, changed]) => ({ line: lineNumber, old: lines[lineNumber - 1], new: changed })),
    line: line + missingImports.length,
  };
}
