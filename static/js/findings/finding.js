/** What a finding is: facts by which a reader is told what happened, from which lines it follows, and what to do. No words. */

/**
 * @typedef {"error" | "warning" | "note"} Severity
 * @typedef {"saved" | "shares" | "written" | "checked" | "used" | "cut" | "made" | "starts" | "way" | "none" | "nonfinite"
 *   | "gradient" | "released" | "kept" | "read" | "hooked" | "moved" | "counted"} Role
 *   what a step has to do with the finding: its value is saved, it shares memory, writes, is where torch checks, uses what
 *   was changed, cuts the graph, makes a tensor, starts a backward, lies on the way, leaves no `.grad`, has the first NaN,
 *   stores a gradient, lets go of saved values, keeps something alive, reads, hangs up a hook, gives a name another
 *   meaning, has sizes or counts
 * @typedef {{code: string, also?: string}} Code   a name or an expression of the program, written as code; also: what it is called
 *   outside of the function that runs
 * @typedef {{result: string, line: number | ""}} Result   a tensor that no name leads to, by the operation that made it
 * @typedef {{phrase: string, facts?: Facts}} Phrase   a part of a sentence, by its key in the locales
 * @typedef {string | number | Code | Result | Phrase} Fact
 * @typedef {Record<string, Fact | Fact[]>} Facts   the holes of a sentence; a list is written with commas
 * @typedef {{line: number, step: number}} Place
 * @typedef {Place & {role: Role, facts: Facts, uids: string[], slot?: string}} Link
 *   uids: the entities that it names, for the stage; slot: `node:slot` of a saved value
 * @typedef {Place & {kind: string, facts: Record<string, string | number>}} FixHint
 *   an edit that `gradbox/language/fixes` knows, with what it needs of the trace
 * @typedef {{variant?: string, severity?: Severity, cause: Place, chain: Link[], names: Code[], facts: Facts,
 *   fixes: FixHint[], explainsError?: boolean}} Diagnosis
 *   what a diagnosis gives: variant: which of the kind's sentences; severity: where it is not the kind's own; names: those
 *   that the reader uses for what it is about; explainsError: it says why the program raised
 * @typedef {Diagnosis & {kind: string, severity: Severity, explainsError: boolean}} Finding
 */

/** A name or an expression, as code. @param {string} text @returns {Code} */
export function code(text) {
  return { code: text };
}

/**
 * A link of the chain.
 * @param {Place} place @param {Role} role @param {Facts} [facts] @param {(string | null | undefined)[]} [uids] @param {string} [slot]
 * @returns {Link}
 */
export function link({ line, step }, role, facts = {}, uids = [], slot = undefined) {
  const knownUids = /** @type {string[]} */ (uids.filter(Boolean));
  return { line, step, role, facts, uids: knownUids, ...(slot ? { slot } : {}) };
}

/** A hint for a fix. @param {string} kind @param {Place} place @param {Record<string, string | number>} [facts] @returns {FixHint} */
export function fix(kind, { line, step }, facts = {}) {
  return { kind, line, step, facts };
}

/** A part of a sentence that is a key of the locales itself. @param {string} key @param {Facts} [facts] @returns {Phrase} */
export function phrase(key, facts = {}) {
  return { phrase: key, facts };
}

/** The text of a name; empty for what has none. @param {Fact | Fact[] | undefined} fact */
export function nameOf(fact) {
  return typeof fact === "object" && "code" in fact ? fact.code : "";
}

/** The names among facts, each once. @param {...(Fact | undefined)} facts @returns {Code[]} */
export function namesOf(...facts) {
  const texts = new Set(
    facts.flatMap((fact) => (typeof fact === "object" && "code" in fact ? [fact.code, fact.also ?? fact.code] : [])),
  );
  return [...texts].map(code);
}
