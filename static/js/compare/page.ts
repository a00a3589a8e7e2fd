/** The page that compares two programs: both can be written and run, the address holds them. */

import { startCopyLink } from "../sharing/copy_link.ts";
import { startKeyboardShortcuts } from "../browser/keys.ts";
import { loadLocale } from "../words/page_locale.ts";
import { ROOT } from "../requests/root.ts";
import { startThemeButton } from "../browser/theme.ts";
import { compareFragment, readCompareAddress } from "./address.ts";
import { startComparisonDownloads } from "./downloads.ts";
import { EXAMPLE } from "./example.ts";
import { createSide, type InitialSide } from "./side.ts";
import { createComparisonView } from "./view.ts";
import type { Problem } from "../requests/trace_source.ts";

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

/** A browser takes some milliseconds to write an address, and refuses it when it is asked too often. */
const WRITE_AFTER_MS = 80;

const { say } = await loadLocale(document.documentElement.lang);
const serverContent: { left: InitialSide | null; right: InitialSide | null } = JSON.parse(
  element("first").textContent ?? "{}",
);
const nonce = (document.querySelector("meta[name=csp-nonce]") as HTMLMetaElement).content;
const emptySide = { trace_url: null, title: "" };
const initialSides = {
  left: serverContent.left ?? { ...emptySide, source: serverContent.right?.source ?? EXAMPLE.left },
  right: serverContent.right ?? { ...emptySide, source: serverContent.left?.source ?? EXAMPLE.right },
};

const sides = {
  left: createSide(element("left"), initialSides.left, say, sideHandlers("left")),
  right: createSide(element("right"), initialSides.right, say, sideHandlers("right")),
};
const root = element("comparison");
const view = createComparisonView(
  root,
  { left: sides.left.view, right: sides.right.view },
  document.documentElement.lang,
  scheduleAddress,
);

function sideHandlers(side: "left" | "right") {
  return {
    nonce,
    onRun: () => run(null),
    onChange: showState,
    onLine: (line: number) => view.goToLine(side, line),
  };
}

/** Says when what is shown is of before. */
function showState() {
  const isCurrent = sides.left.isCurrent() && sides.right.isCurrent();
  element("edited").hidden = isCurrent || !sides.left.opened || !sides.right.opened;
  scheduleAddress();
}

let runCount = 0;
/** Run what is not run yet, and compare. @param row the place to show, null for where the two part */
async function run(row: number | null) {
  const runId = ++runCount;
  document.body.classList.add("busy");
  const areRun = await Promise.all([sides.left.run(), sides.right.run()]);
  if (runId !== runCount) return;
  document.body.classList.remove("busy");
  const [left, right] = [sides.left.opened, sides.right.opened];
  if (areRun.every(Boolean) && left && right) {
    view.open(left.trace, right.trace, row);
    (element("takeaway") as HTMLButtonElement).disabled = false;
  }
  showState();
}

let addressRevision = 0;
function scheduleAddress() {
  const revision = ++addressRevision;
  setTimeout(async () => {
    if (revision !== addressRevision) return;
    const fragment = await currentFragment();
    if (revision === addressRevision && fragment !== location.hash)
      history.replaceState(null, "", location.pathname + location.search + fragment);
  }, WRITE_AFTER_MS);
}

/** The fragment that brings this comparison back. A saved program that was not changed is named by the address already. */
function currentFragment() {
  const changedText = (name: "left" | "right") =>
    serverContent[name] && sides[name].isFirst() ? null : sides[name].text();
  return compareFragment(changedText("left"), changedText("right"), view.row);
}

/** Show what an address asks for. */
async function showAddress(fragment: string) {
  const address = await readCompareAddress(fragment);
  element("problem").hidden = true;
  if (address.broken) showProblem({ key: "broken_link" });
  sides.left.setText(address.left ?? initialSides.left.source);
  sides.right.setText(address.right ?? initialSides.right.source);
  await run(address.row);
}

function showProblem({ key, args }: Problem) {
  element("problem").textContent = say(key, args);
  element("problem").hidden = false;
}

startThemeButton(element("theme"));
startCopyLink(element("copy"), async () => location.search + (await currentFragment()), say, showProblem);
startComparisonDownloads(
  { button: element("takeaway"), menu: element("takeaway-menu"), body: element("offline") },
  () => {
    const { comparison, row } = view;
    if (!comparison) return null;
    const isSaved = serverContent.left && serverContent.right && sides.left.isFirst() && sides.right.isFirst();
    const frame = isSaved ? `${location.origin}${ROOT}/compare/embed${location.search}#i=${row}` : null;
    return { comparison, row, titles: { left: initialSides.left.title, right: initialSides.right.title }, frame };
  },
  {
    copied(name) {
      element("where").textContent = `${name}: ${say("copied")}`;
    },
    failed: (key) => showProblem({ key }),
  },
);
element("compare-form").addEventListener("submit", (event) => {
  event.preventDefault();
  run(null);
});
element("swap").addEventListener("click", () => {
  const [left, right] = [sides.left.text(), sides.right.text()];
  sides.left.setText(right);
  sides.right.setText(left);
  run(view.row);
});
startKeyboardShortcuts({ focused: () => sides.left.focused() || sides.right.focused() }, view.shortcuts, {
  run: () => run(null),
  key: view.key,
});
for (const link of document.querySelectorAll("a[data-keep]") as NodeListOf<HTMLAnchorElement>)
  link.addEventListener("click", () => {
    link.hash = location.hash;
  });
window.addEventListener("hashchange", ({ newURL }) => {
  addressRevision += 1;
  showAddress(new URL(newURL).hash);
});
await showAddress(location.hash);
