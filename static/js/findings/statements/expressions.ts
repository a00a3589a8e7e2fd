/** Names and paths that a statement's text mentions, resolved to what they meant when it ran. */

import type { RunFacts } from "../facts/run_facts.ts";

interface MentionedEntity {
  text: string;
  uid: string;
}

const PATH_PATTERN = /[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[(?:\d+|'[^']*'|"[^"]*")\])*/gu;
const STRING_PATTERN = /'[^'\n]*'|"[^"\n]*"/g;

/**
 * What of the program a text mentions, in order, each by the longest path that leads to a known thing. The names of
 * `step` count, and those before it; the text is that step's statement if no other is given.
 */
export function findMentionedEntities(
  facts: RunFacts,
  step: number,
  text: string = facts.statementCode(step),
): MentionedEntity[] {
  const uidOfPath = uidsByName(facts, step);
  const mentions: MentionedEntity[] = [];
  for (const [path] of text.replace(STRING_PATTERN, "''").matchAll(PATH_PATTERN)) {
    for (let candidate = path; candidate; candidate = candidate.replace(/(\.[^.[]+|\[[^\]]*\]|^[^.[]+)$/, "")) {
      const uid = uidOfPath.get(candidate);
      if (uid) {
        mentions.push({ text: candidate, uid });
        break;
      }
    }
  }
  return mentions;
}

/** The tensors among what a text mentions. */
export function mentionedTensors(facts: RunFacts, step: number, text?: string): MentionedEntity[] {
  return findMentionedEntities(facts, step, text).filter(({ uid }) => uid[0] === "t");
}

/** The tensors among what a statement reads: not what it only gives a value to. */
export function tensorsReadByText(facts: RunFacts, step: number): MentionedEntity[] {
  return mentionedTensors(facts, step, facts.statementCode(step).replace(/^[\w\s.,]+=(?!=)/, ""));
}

/** The thing that a method of a statement is called on: `y` of `y.backward()`; null where the text does not say. */
export function receiverOf(facts: RunFacts, step: number, method: string): MentionedEntity | null {
  const text = facts.statementCode(step);
  const position = text.search(new RegExp(`\\.${method}\\s*\\(`));
  if (position < 0) return null;
  const path = /[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[[^\]]*\])*$/u.exec(text.slice(0, position))?.[0];
  const uid = path ? uidsByName(facts, step).get(path) : undefined;
  return path && uid ? { text: path, uid } : null;
}

/** What each name and path means to the statement of a step: names of its function before those of the module. */
function uidsByName(facts: RunFacts, step: number): Map<string, string> {
  const { frame } = facts.steps[step] ?? {};
  const uidOf = new Map<string, string>();
  for (const nearStep of [step, step - 1]) {
    if (nearStep < 0) continue;
    const tagged = [...facts.namesAt(nearStep).tags].flatMap(([uid, tags]) => tags.map((tag) => ({ uid, tag })));
    for (const isOwnFrame of [true, false])
      for (const { uid, tag } of tagged)
        if ((tag.frame === frame) === isOwnFrame && !uidOf.has(tag.text)) uidOf.set(tag.text, uid);
  }
  addPathsOfSelf(facts, step, uidOf);
  return uidOf;
}

/** Paths that begin at an object which the running function calls by a name of its own, as `self`. */
function addPathsOfSelf(facts: RunFacts, step: number, uidOf: Map<string, string>) {
  const { frame } = facts.steps[step] ?? {};
  const paths = facts.namesAt(step).paths;
  for (const [uid, tags] of facts.namesAt(step).tags) {
    const path = paths.get(uid);
    if (uid[0] !== "o" || !path) continue;
    for (const tag of tags) {
      if (tag.kind !== "var" || tag.frame !== frame || tag.text === path) continue;
      for (const [text, inner] of [...uidOf])
        if (text.startsWith(`${path}.`) || text.startsWith(`${path}[`)) {
          const pathByOwnName = tag.text + text.slice(path.length);
          if (!uidOf.has(pathByOwnName)) uidOf.set(pathByOwnName, inner);
        }
    }
  }
}
