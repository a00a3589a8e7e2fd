/** What may stand in the place of a statement: its operation is found in the catalogue, its operands go into the siblings' templates. */

/**
 * @typedef {{name: string, kind: string, proposed?: string}} Operand
 * @typedef {{name: string, group: string, template: string, operands: Operand[], imports: string[], sentence: string,
 *   siblings: string[]}} Operation as `/api/operations` gives it
 * @typedef {{name: string, text: string, label: string, sentence: string, imports: string[]}} Alternative
 *   text: the whole line; label: what differs of it; imports: statements that it needs
 * @typedef {{operation: Operation, values: Map<string, string>, indent: string, remark: string}} Match
 */

const NAME = "[A-Za-z_]\\w*";
const NUMBER = "-?(?:\\d+\\.?\\d*|\\.\\d+)(?:e-?\\d+)?";
/** How an operand is written that is no name of the program. @type {Record<string, string>} */
const LITERAL_PATTERNS = {
  number: NUMBER,
  int: "-?\\d+",
  numbers: "\\[[^#'\"]*\\]",
  shape: "\\(?-?\\w+(?:,\\s*-?\\w+)*,?\\)?",
  sizes: "\\([^()'\"]*\\)",
  indices: "\\[[\\d,\\s-]*\\]",
  dtype: "torch\\.\\w+",
  device: "[\"'][\\w:]+[\"']",
  name: NAME,
};
/** Kinds of operands that are names of something else than a tensor. */
const NON_TENSOR_KINDS = ["module", "module with grads", "optimizer", "state", "function", "anything", "array"];

/** @param {Operand} operand */
const isTensor = ({ kind }) => !(kind in LITERAL_PATTERNS) && !NON_TENSOR_KINDS.includes(kind);

/**
 * @param {string} line of a program
 * @param {Operation[]} catalogue
 * @param {(name: string) => boolean} isTensorName whether the name is bound to a tensor there
 * @returns {Alternative[]}
 */
export function alternatives(line, catalogue, isTensorName) {
  const match = findOperation(line, catalogue, isTensorName);
  if (!match) return [];
  const { operation, indent, remark, values } = match;
  const currentCode = fillTemplate(operation, match);
  /** @type {Map<string, Alternative>} */
  const alternativesByCode = new Map();
  for (const sibling of siblingsOf(operation, catalogue)) {
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

/** Its own, and those that it is a sibling of. @param {Operation} operation @param {Operation[]} catalogue */
function siblingsOf({ name, siblings }, catalogue) {
  const ownSiblings = siblings
    .map((sibling) => catalogue.find((other) => other.name === sibling))
    .filter((found) => !!found);
  return [
    ...ownSiblings,
    ...catalogue.filter((other) => other.siblings.includes(name) && !siblings.includes(other.name)),
  ];
}

/** The most particular operation that a line is. @param {string} line @param {Operation[]} catalogue
 * @param {(name: string) => boolean} isTensorName @returns {Match | null} */
function findOperation(line, catalogue, isTensorName) {
  const [, indent = "", code = "", remark = ""] = /^(\s*)([^#]*?)(\s*#.*|\s*)$/.exec(line) ?? [];
  for (const { operation, groups } of code ? matchingOperations(code, catalogue) : []) {
    const hasTensors = operation.operands.every((operand) => !isTensor(operand) || isTensorName(groups[operand.name]));
    if (hasTensors) return { operation, values: new Map(Object.entries(groups)), indent, remark };
  }
  return null;
}

/** What was found for statements that were read, by their text: the steps of a loop ask for the same ones again and again.
 * @type {WeakMap<Operation[], Map<string, {operation: Operation, groups: Record<string, string>}[]>>} */
const knownMatches = new WeakMap();
/** So many of them are kept. */
const MAX_KNOWN_MATCHES = 500;

/** The operations that a statement can be by its text alone, the most particular first. @param {string} code
 * @param {Operation[]} catalogue */
function matchingOperations(code, catalogue) {
  /** @type {Map<string, {operation: Operation, groups: Record<string, string>}[]>} */
  const matchesByCode = knownMatches.get(catalogue) ?? new Map();
  knownMatches.set(catalogue, matchesByCode);
  const known = matchesByCode.get(code);
  if (known) return known;
  const matchedOperations = bySpecificity(catalogue).flatMap((operation) => {
    const groups = patternOf(operation).exec(code)?.groups;
    return groups ? [{ operation, groups }] : [];
  });
  if (matchesByCode.size >= MAX_KNOWN_MATCHES) matchesByCode.clear();
  matchesByCode.set(code, matchedOperations);
  return matchedOperations;
}

/** @type {WeakMap<Operation[], Operation[]>} */
const sortedCatalogues = new WeakMap();

/** The operations of one line, those with the longest text of their own first. @param {Operation[]} catalogue */
function bySpecificity(catalogue) {
  const cached = sortedCatalogues.get(catalogue);
  if (cached) return cached;
  const lengths = catalogue
    .filter(({ template }) => !template.includes("\n"))
    .map((operation) => {
      const { template } = operation;
      return { operation, length: template.replace(/\{\w+\}/g, "").length + repeatedHoleCount(template) / 10 };
    });
  const operations = lengths.sort((a, b) => b.length - a.length).map(({ operation }) => operation);
  sortedCatalogues.set(catalogue, operations);
  return operations;
}

/** How often a template has a hole that it had before. @param {string} template */
function repeatedHoleCount(template) {
  const holes = template.match(/\{\w+\}/g) ?? [];
  return holes.length - new Set(holes).size;
}

/** @type {Map<string, RegExp>} */
const patterns = new Map();

/** @param {Operation} operation @returns {RegExp} with a group for each hole */
function patternOf({ template, operands }) {
  const cached = patterns.get(template);
  if (cached) return cached;
  const kinds = new Map(operands.map(({ name, kind }) => [name, kind]));
  const seenHoles = new Set();
  const source = template
    .split(/(\{\w+\})/)
    .map((part) => {
      const operandName = /^\{(\w+)\}$/.exec(part)?.[1];
      if (!operandName) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ /g, "\\s*");
      if (seenHoles.has(operandName)) return `\\k<${operandName}>`;
      seenHoles.add(operandName);
      return `(?<${operandName}>${LITERAL_PATTERNS[kinds.get(operandName) ?? ""] ?? NAME})`;
    })
    .join("");
  const pattern = new RegExp(`^${source}$`);
  patterns.set(template, pattern);
  return pattern;
}

/** An operation with the operands of a statement; null where one of its own is missing.
 * @param {Operation} operation @param {Match} match @returns {string | null} */
function fillTemplate(operation, { operation: matched, values }) {
  const { template, operands, group } = operation;
  if (template.includes("\n")) return null;
  const ownOperands = new Set(operands.map(({ name }) => name));
  const unusedOperands = matched.operands.filter(({ name }) => !ownOperands.has(name));
  const operandValues = new Map(values);
  for (const operand of operands) {
    if (values.has(operand.name)) continue;
    const unusedIndex = unusedOperands.findIndex((other) => isTensor(other) || other.kind === "number");
    const takesUnused = unusedIndex >= 0 && (isTensor(operand) || operand.kind === "number");
    const value = takesUnused
      ? values.get(unusedOperands.splice(unusedIndex, 1)[0].name)
      : (operand.proposed ?? (isTensor(operand) && group === "copy" ? values.get("a") : undefined));
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

/** Without the name that the line gives its result. @param {string} code @param {string | undefined} resultName */
function alternativeLabel(code, resultName) {
  const expression =
    resultName !== undefined && code.startsWith(`${resultName} = `) ? code.slice(resultName.length + 3) : code;
  return /^\w+$/.test(expression) ? `= ${expression}` : expression;
}

/** The edits that put it in the place of a line, with the imports that it needs, and the line where it stands then.
 * @param {string} source @param {number} line from 1 @param {Alternative} alternative
 * @returns {{edits: {line: number, old: string, new: string}[], line: number}} */
export function replaceLine(source, line, { text, imports }) {
  const lines = source.split("\n");
  const missingImports = imports.map((name) => `import ${name}`).filter((statement) => !lines.includes(statement));
  const edits = new Map([[line, text]]);
  if (missingImports.length) edits.set(1, [...missingImports, edits.get(1) ?? lines[0]].join("\n"));
  return {
    edits: [...edits].map(([lineNumber, changed]) => ({ line: lineNumber, old: lines[lineNumber - 1], new: changed })),
    line: line + missingImports.length,
  };
}
