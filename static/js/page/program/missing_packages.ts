/**
 * What a reader sees where a program imports what the server does not offer: the packages, the lines that need them,
 * what can be run all the same, and the command for his own machine.
 */

import { commandElement, textElement } from "./panel_elements.ts";
import { missingPackages, type MissingPackage } from "../../program/missing_packages.ts";
import { loadPasteLocale } from "../../words/page_locale.ts";
import type { Repair, Trace } from "../../trace/wire.ts";
import type { Translate } from "../../words/sentences.ts";

/** Lines of one package that are shown. */
const MAX_LINES = 6;

interface PanelParts {
  host: HTMLElement;
  trace: Trace;
  /** of the page's own sentences, which those of repairs are among */
  pageSay: Translate;
  onRepair: (repair: Repair) => void;
}

/** Draws the panel; resolves once it is complete. */
export async function showMissingPackages({ host, trace, pageSay, onRepair }: PanelParts) {
  const { say } = await loadPasteLocale(document.documentElement.lang);
  const packages = missingPackages(trace);
  const lines = trace.program.source.split("\n");
  const box = document.createElement("div");
  box.className = "first-answer";
  const names = packages.map(({ name }) => name);
  box.append(textElement("h2", say("missing_is", { n: names.length, packages: listText(names, say) })));
  box.append(textElement("p", say("missing_why")), linesElement(packages, lines, say));
  const repairs = (trace.outcome.error?.refusals ?? []).flatMap((refusal) => refusal.repairs ?? []);
  for (const repair of repairs) box.append(...repairElements(repair, pageSay, () => onRepair(repair)));
  box.append(textElement("p", say(repairs.length ? "own_machine" : "missing_own")));
  box.append(commandElement(say, "gradbox open train.py"));
  host.replaceChildren(box);
}

const listText = (names: string[], say: Translate) =>
  names.length < 2 ? names.join() : say("missing_and", { most: names.slice(0, -1).join(", "), last: names.at(-1) });

/** The lines that need a package, under its name, with their code. */
function linesElement(packages: MissingPackage[], source: string[], say: Translate) {
  const list = document.createElement("ol");
  for (const { name, imported, used } of packages) {
    const item = document.createElement("li");
    const head = textElement("b", name);
    const rows = [...new Set([...imported, ...used])].sort((a, b) => a - b);
    const pre = document.createElement("pre");
    pre.className = "needing-lines";
    pre.textContent = rows
      .slice(0, MAX_LINES)
      .map((line) => `${String(line).padStart(4)}  ${(source[line - 1] ?? "").trim()}`)
      .join("\n");
    item.append(head, pre);
    if (rows.length > MAX_LINES) item.append(textElement("p", say("missing_more", { n: rows.length - MAX_LINES })));
    else if (!used.length) item.append(textElement("p", say("missing_unused")));
    list.append(item);
  }
  return list;
}

function repairElements(repair: Repair, say: Translate, run: () => void) {
  const button = textElement("button", say(`repair_${repair.key}`, repair.args ?? {})) as HTMLButtonElement;
  button.type = "button";
  button.className = "primary";
  button.addEventListener("click", run);
  const shape = repair.shape ? ` ${repair.shape}` : "";
  return [textElement("p", `${say(`repair_${repair.key}_why`, repair.args ?? {})}${shape}`), button];
}
