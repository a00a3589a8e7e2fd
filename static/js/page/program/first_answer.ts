/**
 * What a reader gets first for a text that is no program, in the place of the picture: what it is, the programs that
 * end with the same error or are about the same, and the command for his own machine.
 */

import { commandElement, textElement } from "./answer_parts.ts";
import { looksLikeError, matchError } from "../../gallery/error_match.ts";
import { buildScenarioIndex, searchScenarios } from "../../gallery/search.ts";
import { hitElement, loadEntries, type Entry } from "./error_search.ts";
import { loadPasteLocale } from "../../words/page_locale.ts";
import type { Refusal } from "../../trace/wire.ts";
import type { Say } from "../../words/sentences.ts";

const MAX_HITS = 5;

interface AnswerParts {
  host: HTMLElement;
  refusal: Refusal;
  /** the text as it was pasted */
  text: string;
  /** shows an empty editor */
  startAnew: () => void;
}

/** Draws the answer; resolves once it is complete. */
export async function showFirstAnswer({ host, refusal, text, startAnew }: AnswerParts) {
  const { say } = await loadPasteLocale(document.documentElement.lang);
  const { key, args = {} } = refusal;
  const box = document.createElement("div");
  box.className = "first-answer";
  const heading = textElement("h2", say(`${key}_is`, args));
  box.append(heading, textElement("p", sentenceOf(say, key ?? "", args)));
  const paste = document.createElement("button");
  paste.type = "button";
  paste.className = "primary";
  paste.textContent = say("paste_program");
  paste.addEventListener("click", startAnew);
  box.append(paste);
  if (key !== "language")
    box.append(textElement("p", say("own_machine")), commandElement(say, commandFor(key ?? "", args)));
  host.replaceChildren(box);
  if (key === "traceback" || key === "question") box.append(...(await programsAbout(say, text)));
}

function sentenceOf(say: Say, key: string, args: Record<string, unknown>) {
  if (key === "traceback")
    return say(args.at ? "traceback_at" : "traceback_nowhere", { ...args, file: fileName(args.file) });
  if (key === "install" && args.packages) {
    const parts = [args.here && say("install_here", args), args.absent && say("install_absent", args)];
    return parts.filter(Boolean).join(" ");
  }
  return say(`${key}_why`, args);
}

const fileName = (path: unknown) =>
  String(path ?? "")
    .split(/[\\/]/)
    .at(-1);

function commandFor(key: string, { file }: Record<string, unknown>) {
  const name = /([\w-]+\.py)$/.exec(String(file ?? ""))?.[1] ?? "train.py";
  return `gradbox ${key === "install" || key === "diff" ? "open" : "explain"} ${name}`;
}

async function programsAbout(say: Say, text: string): Promise<HTMLElement[]> {
  let entries: Entry[];
  try {
    entries = await loadEntries();
  } catch {
    return [textElement("p", say("search_failed"))];
  }
  const index = buildScenarioIndex(entries);
  const { exact, similar } = matchError(entries, index, text);
  const others = exact.length ? similar : searchScenarios(index, text).slice(0, MAX_HITS);
  const lists = [];
  const found = exact.length || (looksLikeError(text) ? 0 : others.length);
  lists.push(textElement("h3", found ? say("about_it", { n: found }) : say("none_ends_so")));
  if (exact.length) lists.push(hitList(entries, exact.slice(0, MAX_HITS)));
  else if (found) lists.push(hitList(entries, others));
  else if (others.length) lists.push(textElement("p", say("perhaps")), hitList(entries, others));
  return lists;
}

function hitList(entries: Entry[], names: string[]) {
  const list = document.createElement("ol");
  list.append(...names.flatMap((name) => entries.find((entry) => entry.name === name) ?? []).map(hitElement));
  return list;
}
