/** What stands under the lines of a program: what was changed in it, why it is not run, where it raised. */

/** @typedef {import("./editor.js").Message} Message */
/** @typedef {import("./locale.js").Locale["say"]} Say */
/** @typedef {import("./trace.js").Trace} Trace */

/** Notices about one line; the others are about the whole text, and said once however often they come. */
const AT_LINE = new Set(["import", "left_out", "magic", "hidden", "turning", "blanks"]);
const MOST = 12;

/**
 * @param {Trace} trace @param {Say} say
 * @param {(repair: import("./repair.js").Repair, shape?: string) => void} mend makes a repair and runs again
 * @returns {Message[]}
 */
export function messages(trace, say, mend) {
  /** @param {import("./repair.js").Repair[]} [repairs] */
  const offers = (repairs = []) =>
    repairs.map((repair) => ({
      why: say(`repair_${repair.key}_why`, repair.args ?? {}),
      label: say(`repair_${repair.key}`, repair.args ?? {}),
      shape: repair.shape ?? undefined,
      shapeLabel: say("repair_shape"),
      run: (/** @type {string | undefined} */ shape) => mend(repair, shape),
    }));
  /** @type {Message[]} */
  const out = [];
  for (const { line, kind, args, repairs } of atLines(trace).slice(0, MOST))
    out.push({ line: line ?? 1, kind: "notice", text: say(`notice_${kind}`, args), offers: offers(repairs) });
  const error = trace.outcome.error;
  for (const refusal of error?.refusals ?? [])
    out.push({ line: refusal.line, kind: "error", text: because(refusal, say), offers: offers(refusal.repairs) });
  if (error && !error.refusals?.length && error.line)
    out.push({
      line: error.line,
      kind: "error",
      text: `${error.type}: ${error.message}`,
      offers: offers(error.repairs),
    });
  const stopped = trace.outcome.stopped;
  if (stopped?.line && !error) out.push({ line: stopped.line, kind: "error", text: say("stopped_here"), offers: [] });
  return out;
}

/** What was changed in the text as a whole. @param {Trace} trace @param {Say} say @returns {string} */
export function remarks(trace, say) {
  const laid = trace.steps.length ? ["printed", "claimed"] : ["claimed"]; // beside what torch printed
  const whole = (trace.program.notices ?? []).filter((n) => !AT_LINE.has(n.kind) && !laid.includes(n.kind));
  const left = atLines(trace).length - MOST;
  const said = new Set(whole.map((n) => say(`notice_${n.kind}`, n.args)));
  if (left > 0) said.add(say("notice_more", { n: left }));
  if (trace.focus?.counts) said.add(say("second_run"));
  return [...said].join(" ");
}

/** @param {Trace} trace @returns {import("./trace.js").Notice[]} */
function atLines(trace) {
  return (trace.program.notices ?? []).filter((n) => AT_LINE.has(n.kind));
}

/** Why a thing is refused, in the reader's language. @param {import("./trace.js").Refusal} refusal @param {Say} say @returns {string} */
function because({ key, args, message }, say) {
  const why = say(`why_${key}`, args);
  if (why === `why_${key}`) return message;
  if (!args?.what) return why;
  const module = /^import of (.*)$/.exec(String(args.what))?.[1];
  return say("refused_what", { what: module ? say("what_import", { module }) : args.what, why });
}
