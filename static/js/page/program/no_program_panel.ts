/**
 * What a reader gets first for a text that is no program, in the place of the picture: what it is, the programs that
 * end with the same error or are about the same, and the command for his own machine.
 */

import { commandElement, textElement } from "./panel_elements.ts";
import { SERVER_ROOT } from "../../requests/root.ts";
import { loadPasteLocale } from "../../words/page_locale.ts";
import type { Refusal } from "../../trace/wire.ts";
import type { Translate } from "../../words/sentences.ts";

/** Characters that are looked up; what a traceback says comes last. */
const MAX_MESSAGE = 4000;

interface NoProgramPanelParts {
  host: HTMLElement;
  refusal: Refusal;
  /** the text as it was pasted */
  text: string;
  /** shows an empty editor */
  startAnew: () => void;
}

/** Draws the answer; resolves once it is complete. */
export async function showNoProgramPanel({ host, refusal, text, startAnew }: NoProgramPanelParts) {
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
  if (key === "traceback" || key === "question") box.append(await programsAbout(say, text));
}

function sentenceOf(say: Translate, key: string, args: Record<string, unknown>) {
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

/** What the server has about a text, as it renders it for the box of error messages too. */
async function programsAbout(say: Translate, text: string): Promise<Node> {
  const query = new URLSearchParams({ message: text.slice(-MAX_MESSAGE), lang: document.documentElement.lang });
  try {
    const response = await fetch(`${SERVER_ROOT}/gallery/about?${query}`);
    if (!response.ok) throw new Error(String(response.status));
    const part = document.createRange().createContextualFragment(await response.text());
    for (const element of part.querySelectorAll("[id]")) element.removeAttribute("id"); // those of the box
    return part;
  } catch {
    return textElement("p", say("search_failed"));
  }
}
