/** The fixes of a finding: tried by the server when the finding is read, shown with what became of each, applied by a click. */

import { codeNodes, element } from "../browser/elements.js";

/** @typedef {import("../findings/finding.js").Finding} Finding */
/** @typedef {import("../requests/fixes.js").Fix} Fix */
/**
 * @typedef {{attempt: import("../requests/fixes.js").TryFixes, apply: (edits: import("../requests/fixes.js").LineEdit[]) => void,
 *   compareAddress: (edits: import("../requests/fixes.js").LineEdit[]) => Promise<string>}} Fixing
 *   compareAddress: of the page that shows the program and the fixed one side by side */

/** Milliseconds after which the fixes of a finding that is still open are tried. */
const TRY_AFTER_MS = 300;

/**
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {Fixing | null} fixing null where there is no server
 */
export function createFixList(say, fixing) {
  /** @type {Map<Finding, Fix[] | "failed">} what was tried for this run */
  const triedFixes = new Map();
  let aborter = new AbortController();

  /** @param {HTMLElement} box @param {Finding} finding */
  async function startTrying(box, finding) {
    aborter.abort();
    aborter = new AbortController();
    const { signal } = aborter;
    box.replaceChildren(element("p", "fix-status", say("fix_trying")));
    await new Promise((resolve) => setTimeout(resolve, TRY_AFTER_MS));
    if (signal.aborted || !fixing) return;
    try {
      triedFixes.set(finding, await fixing.attempt({ kind: finding.kind, line: finding.cause.line }, signal));
    } catch {
      if (!signal.aborted) triedFixes.set(finding, "failed");
    }
    if (!signal.aborted) show(box, finding);
  }

  /** @param {HTMLElement} box @param {Finding} finding */
  function show(box, finding) {
    const fixes = triedFixes.get(finding);
    if (fixes === "failed" || !fixes) {
      const retryButton = /** @type {HTMLButtonElement} */ (element("button", "link", say("fix_try")));
      retryButton.type = "button";
      retryButton.addEventListener("click", () => startTrying(box, finding));
      return box.replaceChildren(retryButton);
    }
    if (!fixes.length) return box.replaceChildren(element("p", "fix-status", say("fix_none")));
    const heading = element("h4", "", say("fix_heading"));
    box.replaceChildren(heading, ...fixes.map((fix, k) => fixElement(fix, k === 0)));
  }

  /** @param {Fix} fix @param {boolean} isOpen */
  function fixElement(fix, isOpen) {
    const details = /** @type {HTMLDetailsElement} */ (element("details", "fix"));
    details.open = isOpen;
    const summary = element("summary", "");
    const title = element("span", "fix-text");
    title.append(...codeNodes(fix.text));
    const apply = /** @type {HTMLButtonElement} */ (element("button", "fix-apply primary", say("fix_apply")));
    apply.type = "button";
    apply.addEventListener("click", () => fixing?.apply(fix.edits));
    const compare = /** @type {HTMLAnchorElement} */ (element("a", "fix-compare", say("compare")));
    compare.target = "_blank";
    compare.rel = "noopener";
    fixing?.compareAddress(fix.edits).then((address) => {
      compare.href = address;
    });
    summary.append(title);
    const diff = element("div", "fix-diff");
    for (const edit of fix.edits) diff.append(...diffLines(edit));
    const outcome = element("p", "fix-outcome");
    outcome.append("✓ ", ...codeNodes(fix.outcome));
    details.append(summary, diff, outcome, compare, apply);
    return details;
  }

  return {
    /** Another run: nothing was tried yet. */
    forget() {
      aborter.abort();
      triedFixes.clear();
    },
    /** Where the fixes of a finding stand. @param {Finding} finding */
    element(finding) {
      const box = element("div", "fixes");
      box.setAttribute("aria-live", "polite");
      if (triedFixes.has(finding)) show(box, finding);
      else startTrying(box, finding);
      return box;
    },
  };
}

/** An edit as lines: what leaves, what comes, and what stays between added lines. @param {import("../requests/fixes.js").LineEdit} edit */
function diffLines({ line, old, new: text }) {
  const lines = text?.split("\n") ?? [];
  const oldLineStays = lines.includes(old);
  const rows = lines.map((newLine) =>
    newLine === old ? diffLine("div", " ", line, newLine) : diffLine("ins", "+", line, newLine),
  );
  return oldLineStays ? rows : [diffLine("del", "−", line, old), ...rows];
}

/** @param {"del" | "ins" | "div"} name @param {string} sign @param {number} number @param {string} text */
function diffLine(name, sign, number, text) {
  const line = element(name, "fix-line");
  line.append(element("span", "fix-number", `${number} ${sign}`), element("code", "", text));
  return line;
}
