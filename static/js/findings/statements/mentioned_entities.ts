/** What of the program a statement mentions, resolved to what it meant when it ran. */

import { methodCalls, pathText, receiver } from "../../syntax/expressions.ts";
import { assignments, attributePathsIn } from "../../syntax/statements.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import type { RunFacts } from "../facts/run_facts.ts";

interface MentionedEntity {
  text: string;
  uid: string;
}

/**
 * What of the program a step's statement mentions, in order, each by the longest path that leads to a known thing.
 * `nodes` of the statement are looked at; by default all of it.
 */
export function findMentionedEntities(
  facts: RunFacts,
  step: number,
  nodes: SyntaxNode[] = [facts.syntax(step)].filter((tree) => tree !== null),
): MentionedEntity[] {
  const uidOfPath = uidsByName(facts, step);
  return nodes.flatMap(attributePathsIn).flatMap((path) => {
    for (let node: SyntaxNode | undefined = path; node; node = node.children[0]) {
      const text = pathText(node) ?? "";
      const uid = uidOfPath.get(text);
      if (uid) return [{ text, uid }];
    }
    return [];
  });
}

/** The tensors among what a statement mentions. */
export function mentionedTensors(facts: RunFacts, step: number, nodes?: SyntaxNode[]): MentionedEntity[] {
  return findMentionedEntities(facts, step, nodes).filter(({ uid }) => uid[0] === "t");
}

/** The tensors among what a statement reads: not what it only gives a value to. */
export function tensorsReadByStatement(facts: RunFacts, step: number): MentionedEntity[] {
  const tree = facts.syntax(step);
  const names = new Set(tree ? assignments(tree).flatMap(({ target, operator }) => (operator ? [] : [target])) : []);
  return mentionedTensors(
    facts,
    step,
    tree?.children.filter((node) => !names.has(node) && node.field !== "targets"),
  );
}

/** The thing that a method of a statement is called on: `y` of `y.backward()`; null where it has no name. */
export function receiverOf(facts: RunFacts, step: number, method: string): MentionedEntity | null {
  const [call] = methodCalls(facts.syntax(step), method);
  const text = call ? pathText(receiver(call)) : null;
  const uid = text === null ? undefined : uidsByName(facts, step).get(text);
  return text !== null && uid ? { text, uid } : null;
}

/** The tensor that a method of a statement is called on, if it fits, else the first that the statement mentions. */
export function fittingReceiverOrMention(
  facts: RunFacts,
  step: number,
  method: string,
  fits: (uid: string) => unknown,
) {
  const called = receiverOf(facts, step, method);
  return called && fits(called.uid) ? called : mentionedTensors(facts, step).find(({ uid }) => fits(uid));
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
