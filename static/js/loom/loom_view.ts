/**
 * The loom: by storage where all of them have columns, by module where they are too many; the reader may choose the
 * other.
 */

import en from "../../locales/net.en.json" with { type: "json" };
import zh from "../../locales/net.zh.json" with { type: "json" };
import { button } from "../browser/elements.ts";
import { createLoom } from "./loom.ts";
import { createModuleLoom } from "./module_loom.ts";
import { createLocale } from "../words/sentences.ts";
import { isRunByModule } from "./loom_choice.ts";
import { callsModules } from "../trace/net_runs.ts";
import type { LoomLabels } from "../marks/labels.ts";
import type { OpenTrace } from "../trace/state.ts";

export interface LoomView {
  show: (opened: OpenTrace, i: number) => void;
  print: (opened: OpenTrace) => void;
  clearPrint: () => void;
  /** by module, the step at which the next box is done; null where a press is a step */
  nextRow: (direction: 1 | -1) => number | null;
}

export function createLoomView(
  host: HTMLElement,
  document: Document,
  options: { labels?: Partial<LoomLabels>; go: (i: number) => void },
): LoomView {
  const { say } = createLocale({ en, zh })(document.documentElement.lang);
  const byStorage = createLoom(host, document, options);
  const byModule = createModuleLoom(host, document, options);
  const other = button("loom-switch", "");
  host.prepend(other);
  let shown: { opened: OpenTrace; i: number } | null = null;
  let isByModule = false;
  /** what the reader chose for this program */
  let chosen: boolean | null = null;

  function show(opened: OpenTrace, i: number) {
    if (shown?.opened.trace.program !== opened.trace.program) chosen = null;
    shown = { opened, i };
    isByModule = chosen ?? isRunByModule(opened);
    byStorage.root.hidden = isByModule;
    byModule.root.hidden = !isByModule;
    other.hidden = !callsModules(opened);
    other.textContent = say(isByModule ? "loom_by_storage" : "loom_by_module");
    (isByModule ? byModule : byStorage).show(opened, i);
  }

  other.addEventListener("click", () => {
    if (!shown) return;
    chosen = !isByModule;
    show(shown.opened, shown.i);
  });

  return {
    show,
    print: byStorage.print,
    clearPrint: byStorage.clearPrint,
    nextRow: (direction) => (isByModule ? byModule.nextRow(direction) : null),
  };
}
