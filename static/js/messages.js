/** What stands under the lines of a program: what was changed in it, why it is not run, where it raised. */

/** @typedef {import("./editor.js").Message} Message */
/** @typedef {import("./locale.js").Locale["say"]} Say */

/** Notices about one line; the others are about the whole text, and said once however often they come. */
const AT_LINE = new Set(["import", "left_out", "magic", "hidden", "turning", "blanks"]);
const MOST = 12;

/**
 * @param {any} trace @param {Say} say
 * @param {(line: number, text: string) => void} mend puts a line back that was left out
 * @returns {Message[]}
 */
export function messages(trace, say, mend) {
  /** @type {Message[]} */
  const out = [];
  for (const { line, kind, args } of atLines(trace).slice(0, MOST)) {
    const repair = kind === "left_out" ? args?.repair : null;
    const action = repair ? { label: say("notice_repair", { repair }), run: () => mend(line ?? 0, repair) } : undefined;
    out.push({ line: line ?? 1, kind: "notice", text: say(`notice_${kind}`, args), action });
  }
  const error = trace.outcome.error;
  for (const refusal of error?.refusals ?? []) out.push({ line: refusal.line, kind: "error", text: because(refusal, say) });
  if (error && !error.refusals?.length && error.line) out.push({ line: error.line, kind: "error", text: `${error.type}: ${error.message}` });
  return out;
}

/** What was changed in the text as a whole. @param {any} trace @param {Say} say @returns {string} */
export function remarks(trace, say) {
  const laid = trace.steps.length ? ["printed", "claimed"] : ["claimed"]; // beside what torch printed
  const whole = (trace.program.notices ?? []).filter((/** @type {any} */ n) => !AT_LINE.has(n.kind) && !laid.includes(n.kind));
  const left = atLines(trace).length - MOST;
  const said = new Set(whole.map((/** @type {any} */ n) => say(`notice_${n.kind}`, n.args)));
  if (left > 0) said.add(say("notice_more", { n: left }));
  return [...said].join(" ");
}

/** @param {any} trace @returns {any[]} */
function atLines(trace) {
  return (trace.program.notices ?? []).filter((/** @type {any} */ n) => AT_LINE.has(n.kind));
}

/** Why a thing is refused, in the reader's language. @param {any} refusal @param {Say} say @returns {string} */
function because({ key, args, message }, say) {
  const why = say(`why_${key}`, args);
  if (why === `why_${key}`) return message;
  if (!args?.what) return why;
  const module = /^import of (.*)$/.exec(args.what)?.[1];
  return say("refused_what", { what: module ? say("what_import", { module }) : args.what, why });
}
