/**
 * The fixes of a finding: tried by the server when the finding is read, shown with what became of each, applied by a
 * click on the bar at the card's foot, which stays in sight while the card is scrolled.
 */

import { createButton, nodesWithCode, createElement } from "../browser/elements.ts";
import { lossCurvesElement } from "./loss_curves.ts";
import type { Finding } from "../findings/finding.ts";
import type { Fix, LineEdit, TryFixes } from "../requests/fixes.ts";
import type { Locale } from "../words/sentences.ts";

export interface FixActions {
  attempt: TryFixes;
  apply: (edits: LineEdit[]) => void;
  /** of the page that shows the program and the fixed one side by side */
  compareAddress: (edits: LineEdit[]) => Promise<string>;
}

/** bar: hidden until there is a fix */
interface FixPlaces {
  box: HTMLElement;
  bar: HTMLElement;
}

/** Milliseconds after which the fixes of a finding that is still open are tried. */
const TRY_FIXES_AFTER_MS = 300;

/** `fixing` is null where there is no server. */
export function createFixList(say: Locale["say"], fixing: FixActions | null) {
  /** what was tried for this run */
  const triedFixes = new Map<Finding, Fix[] | "failed">();
  let aborter = new AbortController();
  /** so that of a finding's fixes one is open */
  let listsMade = 0;

  async function startTrying({ box, bar }: FixPlaces, finding: Finding) {
    aborter.abort();
    aborter = new AbortController();
    const { signal } = aborter;
    showThatFixesAreTried(box, signal);
    await new Promise((resolve) => setTimeout(resolve, TRY_FIXES_AFTER_MS));
    if (signal.aborted || !fixing) return;
    try {
      triedFixes.set(finding, await fixing.attempt({ kind: finding.kind, line: finding.cause.line }, signal));
    } catch {
      if (!signal.aborted) triedFixes.set(finding, "failed");
    }
    if (!signal.aborted) show({ box, bar }, finding);
    if (aborter.signal === signal) aborter.abort(); // and the clock stops
  }

  /** With the seconds since, from the first on, for as long as it lasts: they are not read out. */
  function showThatFixesAreTried(box: HTMLElement, signal: AbortSignal) {
    const began = performance.now();
    const clock = createElement("span", "fix-clock");
    clock.setAttribute("aria-hidden", "true");
    const status = createElement("p", "fix-status", `${say("fix_trying")} `);
    status.append(clock);
    box.replaceChildren(status);
    const timer = setInterval(() => {
      clock.textContent = `${Math.floor((performance.now() - began) / 1000)} s`;
    }, 1000);
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  function show({ box, bar }: FixPlaces, finding: Finding) {
    const fixes = triedFixes.get(finding);
    if (fixes === "failed" || !fixes) {
      const status = createElement("p", "fix-status", `${say("fix_failed")} `);
      const retryButton = createElement("button", "link", say("fix_try")) as HTMLButtonElement;
      retryButton.type = "button";
      retryButton.addEventListener("click", () => startTrying({ box, bar }, finding));
      status.append(retryButton);
      return box.replaceChildren(status);
    }
    if (!fixes.length) return box.replaceChildren(createElement("p", "fix-status", say("fix_none")));
    const heading = createElement("h4", "", say("fix_heading"));
    const name = `fixes-${listsMade++}`;
    const list = fixes.map((fix, k) => {
      const details = fixElement(fix, name, k === 0);
      details.addEventListener("toggle", () => details.open && showBar(bar, fix));
      return details;
    });
    box.replaceChildren(heading, ...list);
    showBar(bar, fixes[0]);
  }

  /** What the open fix is, and the button that applies it. */
  function showBar(bar: HTMLElement, fix: Fix) {
    const title = createElement("p", "fix-bar-text");
    title.append(...nodesWithCode(fix.text));
    title.title = title.textContent ?? "";
    bar.replaceChildren(
      title,
      createButton("fix-apply primary", say("fix_apply"), () => fixing?.apply(fix.edits)),
    );
    bar.hidden = false;
  }

  function fixElement(fix: Fix, name: string, isOpen: boolean) {
    const details = createElement("details", "fix") as HTMLDetailsElement;
    details.name = name;
    details.open = isOpen;
    const summary = createElement("summary", "");
    const title = createElement("span", "fix-text");
    title.append(...nodesWithCode(fix.text));
    const compare = createElement("a", "fix-compare", say("compare")) as HTMLAnchorElement;
    compare.target = "_blank";
    compare.rel = "noopener";
    fixing?.compareAddress(fix.edits).then((address) => {
      compare.href = address;
    });
    summary.append(title);
    const diff = createElement("div", "fix-diff");
    for (const edit of fix.edits) diff.append(...editDiffLines(edit));
    const outcome = createElement("p", "fix-outcome");
    outcome.append("✓ ", ...nodesWithCode(fix.outcome));
    const losses = fix.losses ? [lossCurvesElement(fix.losses, say)] : [];
    details.append(summary, diff, outcome, ...losses, compare);
    return details;
  }

  return {
    /** Another run: nothing was tried yet, and nobody waits for what is being tried. */
    forget() {
      aborter.abort();
      triedFixes.clear();
    },
    /** Where the fixes of a finding stand, and the card's foot. */
    elements(finding: Finding): FixPlaces {
      const box = createElement("div", "fixes");
      box.setAttribute("aria-live", "polite");
      const bar = createElement("div", "fix-bar");
      bar.setAttribute("role", "group");
      bar.setAttribute("aria-label", say("fix_heading"));
      bar.hidden = true;
      const places = { box, bar };
      if (triedFixes.has(finding)) show(places, finding);
      else startTrying(places, finding);
      return places;
    },
  };
}

/** An edit as lines: what leaves, what comes, and what stays between added lines. */
function editDiffLines({ line, old, new: text }: LineEdit) {
  const lines = text?.split("\n") ?? [];
  const oldLineStays = lines.includes(old);
  const rows = lines.map((newLine) =>
    newLine === old ? diffLine("div", " ", line, newLine) : diffLine("ins", "+", line, newLine),
  );
  return oldLineStays ? rows : [diffLine("del", "−", line, old), ...rows];
}

function diffLine(name: "del" | "ins" | "div", sign: string, number: number, text: string) {
  const line = createElement(name, "fix-line");
  line.append(createElement("span", "fix-number", `${number} ${sign}`), createElement("code", "", text));
  return line;
}
