/** The siblings of the statement at the step, as chips: a click puts one in its place and runs the program. */

import { createElement } from "../browser/elements.ts";
import { doesTraceMatchText } from "../page_state/selectors.ts";
import { SERVER_ROOT } from "../requests/root.ts";
import {
  alternativesToStatement,
  editsReplacingLine,
  type StatementAlternative,
  type Operation,
} from "./alternatives.ts";
import type { Entities } from "../trace/state.ts";
import type { Locale } from "../words/sentences.ts";
import type { PageState } from "../page_state/state.ts";

const MAX_SIBLING_CHIPS = 10;
/** Milliseconds for which a chip is pointed at before what it would do is asked for. */
const PREVIEW_AFTER_MS = 150;
const MAX_CACHED_PREVIEWS = 200;
const SIGN_BY_EFFECT = { same: "=", other: "≠", stops: "✕" };

async function fetchCatalogue(): Promise<Operation[]> {
  const response = await fetch(`${SERVER_ROOT}/api/operations?lang=${document.documentElement.lang}`);
  if (!response.ok) throw new Error(String(response.status));
  return (await response.json()).operations;
}

/** Tells whether a name stands for a tensor after the step, in the innermost frame that has it. */
function createIsTensorName(entities: Entities): (name: string) => boolean {
  const frames = [...entities.values()].filter((entity) => entity.kind === "frame");
  return (name) => {
    const value = frames.findLast((frame) => frame.vars.has(name))?.vars.get(name);
    const uid = typeof value === "object" && value !== null && "ref" in value ? String(value.ref) : "";
    return entities.get(uid)?.kind === "tensor";
  };
}

/** The stage's foot says what a sibling would do; null where the host has no previews. */
export function createSiblingChips(
  row: HTMLElement,
  say: Locale["say"],
  choose: (change: ReturnType<typeof editsReplacingLine>) => void,
  foot: HTMLElement | null,
) {
  /** what became of the siblings that were tried, by program */
  const effectsByKey = new Map<string, { mark: keyof typeof SIGN_BY_EFFECT; words: string }>();
  let previewRequest = new AbortController();
  let timer = 0;

  let catalogue: Operation[] | null = null;
  let latestState: PageState | null = null;
  let isLoading = false;
  let shownKey = "";

  async function load() {
    isLoading = true;
    try {
      catalogue = await fetchCatalogue();
    } catch {
      return; // without the catalogue there are no chips, and nothing else is missing
    }
    if (latestState) show(latestState);
  }

  function show(state: PageState) {
    const { opened, step, text } = state;
    const isWaiting = state.isLive && !doesTraceMatchText(state) && !row.classList.contains("none");
    row.inert = isWaiting;
    if (isWaiting) return; // the next picture brings the next chips: until then these stay, and do nothing
    const here = opened?.count && doesTraceMatchText(state) ? opened.trace.steps[step].line : null;
    // beside an error the finding says what helps
    const line = here === opened?.trace.outcome.error?.line ? null : here;
    const lineText = line ? text.split("\n")[line - 1] : "";
    const entities = line && opened ? opened.at(step).entities : new Map();
    const alternativesFound =
      catalogue && lineText ? alternativesToStatement(lineText, catalogue, createIsTensorName(entities)) : [];
    const key = JSON.stringify([line, lineText, alternativesFound.map((one) => one.text)]);
    if (key === shownKey) return;
    shownKey = key;
    cancelPreview();
    row.classList.toggle("none", !alternativesFound.length);
    row.replaceChildren(createElement("span", "sibling-label", say("siblings")));
    for (const alternative of alternativesFound.slice(0, MAX_SIBLING_CHIPS))
      row.append(chip(alternative, text, line ?? 0));
  }

  function chip(alternative: StatementAlternative, source: string, line: number) {
    const button = createElement("button", "sibling") as HTMLButtonElement;
    button.type = "button";
    button.dataset.sibling = alternative.name;
    button.title = alternative.sentence;
    button.append(createElement("code", "", alternative.label));
    const change = editsReplacingLine(source, line, alternative);
    button.addEventListener("click", () => choose(change));
    if (foot) offerPreview(button, { ...change, code: alternative.text.trim() });
    return button;
  }

  /** Pointing at a chip, or coming to it by keys, says what it would do. */
  function offerPreview(button: HTMLElement, change: ReturnType<typeof editsReplacingLine> & { code: string }) {
    const key = JSON.stringify([latestState?.text, latestState?.settings, change.edits]);
    showMark(button, key);
    let isPointedAt = false; // by a pointer that moved there: a chip that comes to lie under one at rest isn't meant
    const schedulePreview = () => {
      cancelPreview();
      timer = window.setTimeout(() => void preview(button, key, change), PREVIEW_AFTER_MS);
    };
    button.addEventListener("pointermove", ({ pointerType }) => {
      if (pointerType !== "mouse" || isPointedAt) return;
      isPointedAt = true;
      schedulePreview();
    });
    button.addEventListener("pointerleave", () => {
      isPointedAt = false;
      cancelPreview();
    });
    button.addEventListener("focus", () => button.matches(":focus-visible") && schedulePreview());
    for (const type of ["blur", "click"]) button.addEventListener(type, cancelPreview);
  }

  async function preview(
    button: HTMLElement,
    key: string,
    change: ReturnType<typeof editsReplacingLine> & { code: string },
  ) {
    const { signal } = previewRequest;
    if (!latestState?.opened || !foot) return;
    try {
      const { previewEdits: tryChange, showSiblingPreview: showPreview } = await import("./preview.ts");
      const effect = await tryChange(latestState.opened, { ...latestState.settings }, change, signal);
      signal.throwIfAborted();
      effectsByKey.set(key, { mark: effect.mark, words: effect.words });
      if (effectsByKey.size > MAX_CACHED_PREVIEWS) effectsByKey.delete([...effectsByKey.keys()][0]);
      showMark(button, key);
      showPreview(foot, effect);
    } catch {
      // it was left, or can't be told now: then the chip says what it said before
    }
  }

  function cancelPreview() {
    clearTimeout(timer);
    previewRequest.abort();
    previewRequest = new AbortController();
    foot?.querySelector(".sibling-preview")?.remove();
  }

  /** At the chip's end, once it is known: the same numbers, others, or none. */
  function showMark(button: HTMLElement, key: string) {
    const effect = effectsByKey.get(key);
    if (!effect || button.querySelector(".sibling-mark")) return;
    const mark = createElement("span", `sibling-mark ${effect.mark}`, SIGN_BY_EFFECT[effect.mark]);
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", effect.words);
    mark.title = effect.words;
    button.append(mark);
  }

  return {
    render(state: PageState) {
      latestState = state;
      if (!isLoading && state.opened?.count) void load();
      if (catalogue) show(state);
    },
  };
}
