/** Names and paths that a statement's text mentions, resolved to what they meant when it ran. */

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {{text: string, uid: string}} Mention */

const PATH = /[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[(?:\d+|'[^']*'|"[^"]*")\])*/gu;
const STRING = /'[^'\n]*'|"[^"\n]*"/g;

/** What of the program a text mentions, in order, each by the longest path that leads to a known thing.
 * @param {RunFacts} facts @param {number} step whose names count, with those before it @param {string} [text] the step's own
 * statement by default @returns {Mention[]} */
export function findMentions(facts, step, text = facts.code(step)) {
  const known = namesAt(facts, step);
  /** @type {Mention[]} */
  const out = [];
  for (const [path] of text.replace(STRING, "''").matchAll(PATH)) {
    for (let shorter = path; shorter; shorter = shorter.replace(/(\.[^.[]+|\[[^\]]*\]|^[^.[]+)$/, "")) {
      const uid = known.get(shorter);
      if (uid) {
        out.push({ text: shorter, uid });
        break;
      }
    }
  }
  return out;
}

/** The tensors among what a text mentions. @param {RunFacts} facts @param {number} step @param {string} [text] @returns {Mention[]} */
export function mentionedTensors(facts, step, text) {
  return findMentions(facts, step, text).filter(({ uid }) => uid[0] === "t");
}

/** The thing that a method of a statement is called on: `y` of `y.backward()`; null where the text does not say.
 * @param {RunFacts} facts @param {number} step @param {string} method @returns {Mention | null} */
export function receiver(facts, step, method) {
  const text = facts.code(step);
  const at = text.search(new RegExp(`\\.${method}\\s*\\(`));
  if (at < 0) return null;
  const path = /[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[[^\]]*\])*$/u.exec(text.slice(0, at))?.[0];
  const uid = path ? namesAt(facts, step).get(path) : undefined;
  return path && uid ? { text: path, uid } : null;
}

/** What each name and path means to the statement of a step: names of its function before those of the module.
 * @param {RunFacts} facts @param {number} step @returns {Map<string, string>} */
export function namesAt(facts, step) {
  const { frame } = facts.steps[step] ?? {};
  /** @type {Map<string, string>} */
  const out = new Map();
  for (const at of [step, step - 1]) {
    if (at < 0) continue;
    const all = [...facts.names(at).tags].flatMap(([uid, tags]) => tags.map((tag) => ({ uid, tag })));
    for (const own of [true, false])
      for (const { uid, tag } of all) if ((tag.frame === frame) === own && !out.has(tag.text)) out.set(tag.text, uid);
  }
  addSelf(facts, step, out);
  return out;
}

/** Paths that begin at an object which the running function calls by a name of its own, as `self`.
 * @param {RunFacts} facts @param {number} step @param {Map<string, string>} out */
function addSelf(facts, step, out) {
  const { frame } = facts.steps[step] ?? {};
  const paths = facts.names(step).paths;
  for (const [uid, tags] of facts.names(step).tags) {
    const path = paths.get(uid);
    if (uid[0] !== "o" || !path) continue;
    for (const tag of tags) {
      if (tag.kind !== "var" || tag.frame !== frame || tag.text === path) continue;
      for (const [text, inner] of [...out])
        if (text.startsWith(`${path}.`) || text.startsWith(`${path}[`)) {
          const own = tag.text + text.slice(path.length);
          if (!out.has(own)) out.set(own, inner);
        }
    }
  }
}
