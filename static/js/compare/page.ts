/** The page that compares two programs: both can be written and run, the address holds them. */

import { startCopyLinkButton } from "../sharing/copy_link.ts";
import { startKeyboardShortcuts } from "../browser/keys.ts";
import { loadLocale } from "../words/page_locale.ts";
import { SERVER_ROOT } from "../requests/root.ts";
import { startThemeButton } from "../browser/theme.ts";
import { comparisonFragment, readComparisonAddress } from "../page_state/comparison_address.ts";
import { startComparisonDownloads } from "./downloads.ts";
import { createEditableSide, type InitialComparisonSide } from "./editable_side.ts";
import { createComparisonView } from "./comparison_view.ts";
import type { RequestProblem } from "../requests/trace_source.ts";

/**
 * What is compared when the page is opened without programs: a copy that gradients pass through, and one that they
 * don't.
 */
const EXAMPLE_PROGRAM = `import torch
a = torch.tensor([1., 2., 3.], requires_grad=True)
b = a.clone()
c = a * b
c.sum().backward()
print(a.grad)
`;

const EXAMPLE_COMPARISON = { left: EXAMPLE_PROGRAM, right: EXAMPLE_PROGRAM.replace("a.clone()", "a.detach()") };

const elementById = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

/** A browser takes some milliseconds to write an address, and refuses it when it is asked too often. */
const WRITE_ADDRESS_AFTER_MS = 80;

const { say } = await loadLocale(document.documentElement.lang);
const serverContent: { left: InitialComparisonSide | null; right: InitialComparisonSide | null } = JSON.parse(
  elementById("first").textContent ?? "{}",
);
const nonce = (document.querySelector("meta[name=csp-nonce]") as HTMLMetaElement).content;
const emptyInitialSide = { trace_url: null, title: "" };
const initialSides = {
  left: serverContent.left ?? { ...emptyInitialSide, source: serverContent.right?.source ?? EXAMPLE_COMPARISON.left },
  right: serverContent.right ?? { ...emptyInitialSide, source: serverContent.left?.source ?? EXAMPLE_COMPARISON.right },
};

const sides = {
  left: createEditableSide(elementById("left"), initialSides.left, say, handlersOfSide("left")),
  right: createEditableSide(elementById("right"), initialSides.right, say, handlersOfSide("right")),
};
const comparisonElement = elementById("comparison");
const comparisonView = createComparisonView(
  comparisonElement,
  { left: sides.left.view, right: sides.right.view },
  document.documentElement.lang,
  scheduleAddressUpdate,
);

function handlersOfSide(side: "left" | "right") {
  return {
    nonce,
    onRun: () => runAndCompare(null),
    onChange: showWhetherOutdated,
    onLine: (line: number) => comparisonView.goToLine(side, line),
  };
}

/** Says when what is shown is of before. */
function showWhetherOutdated() {
  const isCurrent = sides.left.isCurrent() && sides.right.isCurrent();
  elementById("edited").hidden = isCurrent || !sides.left.opened || !sides.right.opened;
  scheduleAddressUpdate();
}

let runCount = 0;
/** Runs what is not run yet, and compares. `row` is the place to show, null for where the two part. */
async function runAndCompare(row: number | null) {
  const runId = ++runCount;
  document.body.classList.add("busy");
  const areRun = await Promise.all([sides.left.run(), sides.right.run()]);
  if (runId !== runCount) return;
  document.body.classList.remove("busy");
  const [left, right] = [sides.left.opened, sides.right.opened];
  if (areRun.every(Boolean) && left && right) {
    comparisonView.open(left.trace, right.trace, row);
    (elementById("takeaway") as HTMLButtonElement).disabled = false;
  }
  showWhetherOutdated();
}

let addressRevision = 0;
function scheduleAddressUpdate() {
  const revision = ++addressRevision;
  setTimeout(async () => {
    if (revision !== addressRevision) return;
    const fragment = await currentComparisonFragment();
    if (revision === addressRevision && fragment !== location.hash)
      history.replaceState(null, "", location.pathname + location.search + fragment);
  }, WRITE_ADDRESS_AFTER_MS);
}

/**
 * The fragment that brings this comparison back. A saved program that was not changed is named by the address already.
 */
function currentComparisonFragment() {
  const changedText = (name: "left" | "right") =>
    serverContent[name] && sides[name].isFirst() ? null : sides[name].text();
  return comparisonFragment(changedText("left"), changedText("right"), comparisonView.row);
}

/** Show what an address asks for. */
async function showComparisonOfAddress(fragment: string) {
  const address = await readComparisonAddress(fragment);
  elementById("problem").hidden = true;
  if (address.broken) showProblem({ key: "broken_link" });
  sides.left.setText(address.left ?? initialSides.left.source);
  sides.right.setText(address.right ?? initialSides.right.source);
  await runAndCompare(address.row);
}

function showProblem({ key, args }: RequestProblem) {
  elementById("problem").textContent = say(key, args);
  elementById("problem").hidden = false;
}

startThemeButton(elementById("theme"));
startCopyLinkButton(
  elementById("copy"),
  async () => location.search + (await currentComparisonFragment()),
  say,
  showProblem,
);
startComparisonDownloads(
  { button: elementById("takeaway"), menu: elementById("takeaway-menu"), body: elementById("offline") },
  () => {
    const { comparison, row } = comparisonView;
    if (!comparison) return null;
    const isSaved = serverContent.left && serverContent.right && sides.left.isFirst() && sides.right.isFirst();
    const frame = isSaved ? `${location.origin}${SERVER_ROOT}/compare/embed${location.search}#i=${row}` : null;
    return { comparison, row, titles: { left: initialSides.left.title, right: initialSides.right.title }, frame };
  },
  {
    copied(name) {
      elementById("where").textContent = `${name}: ${say("copied")}`;
    },
    failed: (key) => showProblem({ key }),
  },
);
elementById("compare-form").addEventListener("submit", (event) => {
  event.preventDefault();
  runAndCompare(null);
});
elementById("swap").addEventListener("click", () => {
  const [left, right] = [sides.left.text(), sides.right.text()];
  sides.left.setText(right);
  sides.right.setText(left);
  runAndCompare(comparisonView.row);
});
startKeyboardShortcuts({ focused: () => sides.left.focused() || sides.right.focused() }, comparisonView.shortcuts, {
  run: () => runAndCompare(null),
  key: comparisonView.key,
});
for (const link of document.querySelectorAll("a[data-keep]") as NodeListOf<HTMLAnchorElement>)
  link.addEventListener("click", () => {
    link.hash = location.hash;
  });
window.addEventListener("hashchange", ({ newURL }) => {
  addressRevision += 1;
  showComparisonOfAddress(new URL(newURL).hash);
});
await showComparisonOfAddress(location.hash);
