/** What a statement's text mentions: names, the `.grad` that it reads, and what it writes to. */

import type { RunFacts } from "../facts/run_facts.ts";

export interface StatementMentions {
  /** every identifier */
  names: Set<string>;
  /** paths whose `.grad` it reads, like `net.fc.weight` */
  gradReads: string[];
  /** the names through which it writes, of an assignment to an element, of a method that ends in `_`, of `out=` */
  targets: Set<string>;
}

const PATH_PATTERN = String.raw`[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:-?\d+|'[^']*'|"[^"]*"|[A-Za-z_]\w*)\])*`;
const ASSIGNMENT_PATTERN = /^(.*?[^=!<>:+\-*/%@&|^])(?:\+|-|\*\*?|\/\/?|%|@|&|\||\^|<<|>>)?=(?!=)(.*)$/s;

/** What functions like `nn.init.zeros_(x)` are found under: they write their first argument. */
const MODULE_OF_FUNCTIONS = /^(?:torch|nn|init|F|functional)$/;

/** Of a longer statement only the beginning is read: the time of these patterns grows with the square of its length. */
const MAX_STATEMENT_CHARACTERS = 4000;

const mentionsByTrace = new WeakMap<object, Map<string, StatementMentions>>();

/** What the statement of a step mentions. */
export function mentionsAt(facts: RunFacts, step: number): StatementMentions {
  const byStatement = mentionsByTrace.get(facts.trace) ?? new Map();
  mentionsByTrace.set(facts.trace, byStatement);
  const { stmt, line } = facts.steps[step] ?? {};
  const key = typeof stmt === "number" ? `${stmt}` : `line ${line}`;
  let mentions = byStatement.get(key);
  if (!mentions) {
    const kind = facts.trace.program.statements?.[stmt ?? -1]?.kind ?? "";
    mentions = statementMentions(facts.statementCode(step), kind);
    byStatement.set(key, mentions);
  }
  return mentions;
}

/** `kind` is that of the statement, as Python's grammar calls it. */
export function statementMentions(text: string, kind: string): StatementMentions {
  const code = withoutStrings(text.slice(0, MAX_STATEMENT_CHARACTERS));
  const names = new Set<string>(withoutStrings(code, true).match(/[A-Za-z_]\w*/g));
  return { names, gradReads: pathsWithGradRead(code, kind), targets: namesWrittenBy(code) };
}

/**
 * The text without comments, and without the texts of strings that are no f-strings and no keys of an index; with
 * `keys`, without these too.
 */
function withoutStrings(text: string, keys = false) {
  return text.replace(
    /#.*|(\[)?([A-Za-z]{0,2})('''[\s\S]*?'''|"""[\s\S]*?"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")/g,
    (whole, bracket, prefix, quoted) => {
      if (quoted === undefined) return "";
      if (/f/i.test(prefix) || (bracket && !keys)) return whole;
      return `${bracket ?? ""}""`;
    },
  );
}

/** A question whether there is a `.grad` is not a reading of it. */
function pathsWithGradRead(code: string, kind: string): string[] {
  const isCondition = ["If", "While", "Assert"].includes(kind) || /\bif\b/.test(code);
  const assignment = ASSIGNMENT_PATTERN.exec(code);
  const paths = new Set<string>();
  for (const match of code.matchAll(new RegExp(PATH_PATTERN, "g"))) {
    const gradIndex = match[0].search(/\.grad\b/);
    if (gradIndex < 0 || /\bdel\s+$/.test(code.slice(0, match.index))) continue;
    const after = code.slice(match.index + match[0].length);
    if (isCondition && /^\s*(?:is\b|:|and\b|or\b|$)/.test(after)) continue;
    const isTarget = assignment && match.index + match[0].length === assignment[1].trimEnd().length;
    if (isTarget && !/[+\-*/]=/.test(code.slice(match.index + match[0].length, match.index + match[0].length + 4)))
      continue;
    paths.add(match[0].slice(0, gradIndex));
  }
  return isCondition && /\.grad\s+is\s+(?:not\s+)?None/.test(code) ? [] : [...paths];
}

function namesWrittenBy(code: string) {
  const targets = new Set<string>();
  const assignment = ASSIGNMENT_PATTERN.exec(code);
  if (assignment && isOutsideBrackets(assignment[1])) {
    for (const part of assignment[1].split(",")) {
      const root = /^\W*([A-Za-z_]\w*)/.exec(part.trim());
      if (root) targets.add(root[1]);
    }
  }
  for (const match of code.matchAll(
    /\b([A-Za-z_]\w*)(?:\.\w+|\[[^\]]*\]|\([^()]*\))*\.\w*[a-z]_\(\s*([A-Za-z_]\w*)?/g,
  )) {
    const isFunction = MODULE_OF_FUNCTIONS.test(match[1]);
    const argument = isFunction ? /\(\s*([A-Za-z_]\w*)/.exec(match[0])?.[1] : match[1];
    if (argument) targets.add(argument);
  }
  for (const match of code.matchAll(/[,(]\s*out\s*=\s*\(?([A-Za-z_]\w*)/g)) targets.add(match[1]);
  return targets;
}

function isOutsideBrackets(text: string) {
  const bracketCount = (brackets: RegExp) => text.match(brackets)?.length ?? 0;
  return bracketCount(/[([{]/g) === bracketCount(/[)\]}]/g);
}
