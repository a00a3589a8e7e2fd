/**
 * The card of a run's findings: the first in full, the others one line each; its links lead to steps and light things.
 * On a small screen, where it stands over the picture, it is its headline and its fix until it is unfolded; so it is
 * in a drawer below a list of rows, in a low window.
 */

import { lineNameClass, shortLineName } from "../trace/program_files.ts";
import { nodesWithCode, createElement, onHoverOrFocus } from "../browser/elements.ts";
import { DOCUMENTATION_URL } from "../requests/root.ts";
import type { createFixList, FixActions } from "./fix_list.ts";
import { roleIcon, severityIcon } from "./finding_icons.ts";
import { lookedForElement } from "./looked_for_card.ts";
import type { CheckPanelLoader } from "./check_panel.ts";
import { chainMarksOf, type ChainMark } from "../findings/chain_marks.ts";
import {
  indexOfCauseLink,
  isFindingShownAtStep,
  type ChainLink,
  type Finding,
  type FindingSentence,
} from "../findings/finding.ts";
import type { FindingText } from "../findings/finding_text.ts";
import type { TorchSuggestion } from "../findings/torch_offers.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Trace } from "../trace/wire.ts";
import type { Translate } from "../words/sentences.ts";
import type * as pageApiModule from "../findings/page_api.ts";

export type FindingsApi = typeof pageApiModule & {
  /** of findings */
  sentences: () => Promise<Translate>;
};
/** the diagnoses come when there is something to explain */
export type LoadFindings = () => Promise<FindingsApi>;

interface FindingsCardOptions {
  load: LoadFindings;
  /** to a step */
  go: (step: number) => void;
  /** what a link names, null for nothing */
  light: (link: ChainLink | null) => void;
  /** called with the step of what is wrong, once a run is explained */
  found?: (trace: Trace, step: number) => void;
  /** called with the chain of the finding that is open, and whether a finding says why the program raised */
  mark: (marks: ChainMark[], errorExplained: boolean) => void;
  /** called when a run is explained, and when another finding is opened */
  told?: () => void;
  /** called with the steps of the causes, once a run is explained */
  causes?: (steps: number[]) => void;
  /** how fixes are tried and applied, where there is a server to run them */
  fixes?: FixActions;
  /** what makes the panel that checks gradients, where there is a server to run them */
  loadCheckPanel?: CheckPanelLoader;
}

export function createFindingsCard(
  host: HTMLElement,
  say: Translate,
  {
    load,
    go,
    light: lightLink,
    mark: markChain,
    told: onTold,
    causes: onCauses,
    found: onFound,
    fixes: fixing,
    loadCheckPanel,
  }: FindingsCardOptions,
) {
  let findings: Finding[] = [];
  /** in words, each */
  let texts: FindingText[] = [];
  let opened: OpenTrace | null = null;
  /** what was looked for, where nothing is wrong */
  let calm: HTMLElement | null = null;
  let openIndex: number | null = null;
  const smallScreen = matchMedia("(max-width: 860px)");
  /** a low one's height is the picture's */
  const highWindow = matchMedia("(min-height: 800px)");
  let isDrawer = false;
  /** of the open one, where it folds: the styles heed it there only */
  let isUnfolded = false;
  const folds = () => isDrawer || smallScreen.matches;
  highWindow.addEventListener("change", () => {
    if (!isDrawer) return;
    isUnfolded = highWindow.matches;
    draw();
  });
  let shownStep = -1;
  /** the links of the open finding */
  let openLinkButtons: { element: HTMLButtonElement; link: ChainLink }[] = [];

  /** where it is said that the picture has not come to what a finding tells */
  let stillAhead: { element: HTMLElement; step: number }[] = [];

  /** once there is a finding that can be mended */
  let fixList: ReturnType<typeof createFixList> | null = null;

  /** Find out what there is to say of a run; the page goes on meanwhile. */
  async function open(trace: OpenTrace | null) {
    opened = trace;
    findings = [];
    calm = null;
    isUnfolded = isDrawer && highWindow.matches;
    fixList?.forget();
    draw();
    if (!trace?.count) return;
    await new Promise((resolve) => setTimeout(resolve, 0)); // the picture comes first
    const findingsApi = await load().catch(() => null); // offline, or the server has a newer page
    if (opened !== trace || !findingsApi) return;
    const newFindings = findingsApi.explain(trace);
    const lookedFor = findingsApi.lookedForIn(trace, newFindings);
    const sayFinding = await findingsApi.sentences().catch(() => null);
    const checks = sayFinding && lookedFor ? await checksOfRun(findingsApi, trace, sayFinding) : [];
    const isMendable = fixing !== undefined && newFindings.some(({ fixes }) => fixes.length);
    if (isMendable && !fixList) {
      const fixListModule = await import("./fix_list.ts").catch(() => null);
      fixList = fixListModule?.createFixList(say, fixing) ?? null;
    }
    if (opened !== trace || !sayFinding) return;
    findings = newFindings;
    calm = lookedFor && lookedForElement(findingsApi.lookedForText(lookedFor, sayFinding), sayFinding, checks);
    texts = findings.map((finding) => findingsApi.findingText(finding, sayFinding));
    openIndex = findings.length && findings[0].severity !== "note" ? 0 : null;
    draw();
    onCauses?.(findings.filter(({ severity }) => severity !== "note").map(({ cause }) => cause.step));
    const gravest = findings[0];
    // what raised is where the page is already
    if (gravest && gravest.severity !== "note" && !gravest.explainsError) onFound?.(trace.trace, gravest.cause.step);
  }

  /** The checks that cost more, where a server can run the program again: each a button that says what it does. */
  async function checksOfRun(
    findingsApi: FindingsApi,
    trace: OpenTrace,
    sayFinding: Translate,
  ): Promise<HTMLElement[]> {
    const facts = new findingsApi.RunFacts(trace);
    const backward = findingsApi.backwardToCheck(facts, trace.count - 1);
    const panel = backward && loadCheckPanel ? await loadCheckPanel().catch(() => null) : null;
    if (!backward || !panel) return [];
    const check = findingsApi.automaticCheck(facts);
    const onDifference = () => calm?.setAttribute("open", "");
    return [
      panel({
        opened: trace,
        backward: check ? check.backward : backward.number,
        ...(check && { byItself: { check, onDifference } }),
        asked: "",
        button: "check.button_all",
        say: sayFinding,
        light: () => {},
      }),
    ];
  }

  function draw() {
    openLinkButtons = [];
    stillAhead = [];
    lightLink(null);
    host.hidden = !findings.length && !calm;
    host.classList.toggle("folded", isDrawer && openIndex !== null && !isUnfolded);
    const graveCount = findings.filter(({ severity }) => severity !== "note").length;
    const cards = findings.map((finding, k) => findingElement(finding, k, graveCount));
    host.replaceChildren(...cards, ...(calm ? [calm] : []));
    const chosen = openIndex === null ? null : findings[openIndex];
    markChain(
      chosen && openIndex !== null ? chainMarksOf(chosen, texts[openIndex].chain) : [],
      findings.some(({ kind, explainsError }) => explainsError && kind !== "unexplained_error"),
    );
    show(shownStep);
    onTold?.();
  }

  /** `graveCount` is the number of findings that are no notes. */
  function findingElement(finding: Finding, k: number, graveCount: number) {
    const isOpen = k === openIndex;
    const isShown = isOpen && (isUnfolded || !folds());
    const findingWords = texts[k];
    const states = [...(isOpen ? ["open"] : []), ...(isOpen && isUnfolded ? ["unfolded"] : [])];
    const card = createElement("article", ["finding", finding.severity, ...states].join(" "));
    card.dataset.finding = finding.kind;
    const head = createElement("h3", "finding-head");
    const button = createElement("button", "finding-what") as HTMLButtonElement;
    button.type = "button";
    button.setAttribute("aria-expanded", String(isShown));
    const kicker = createElement("span", "finding-kicker", kickerText(finding));
    const ahead = createElement("span", "finding-ahead");
    kicker.append(ahead);
    stillAhead.push({ element: ahead, step: lastStepOf(finding) });
    const sentence = createElement("span", "finding-sentence");
    sentence.append(...nodesWithCode(findingWords.what));
    button.append(severityIcon(finding.severity), kicker, sentence);
    button.addEventListener("click", () => {
      openIndex = isShown && !folds() ? null : k;
      isUnfolded = !isShown;
      draw();
      (host.children[k].querySelector(".finding-what") as HTMLElement | null)?.focus({
        preventScroll: true,
      });
    });
    head.append(button);
    if (graveCount > 1 && k < graveCount)
      head.append(createElement("span", "finding-count", `${k + 1} / ${graveCount}`));
    card.append(head);
    if (isOpen) card.append(...bodyElements(finding, findingWords));
    return card;
  }

  function bodyElements(finding: Finding, findingWords: FindingText) {
    const chain = createElement("ol", "finding-chain");
    chain.setAttribute("aria-label", say("finding_chain"));
    const cause = indexOfCauseLink(finding);
    chain.append(...finding.chain.map((link, i) => chainRow(link, findingWords.chain[i], i === cause)));
    const fixes = finding.fixes.length ? (fixList?.elements(finding) ?? null) : null;
    const happened = createElement("div", "finding-happened");
    happened.append(...paragraph("finding-why", findingWords.why), chain);
    const remedy = createElement("div", "finding-remedy");
    remedy.append(...paragraph("finding-todo", findingWords.todo), ...(fixes ? [fixes.box] : []));
    remedy.append(...findingWords.offers.map(suggestionLine), ...(DOCUMENTATION_URL ? [aboutLine(finding.kind)] : []));
    if (finding.explainsError) remedy.append(...torchMessageElements());
    return [happened, remedy, ...(fixes ? [fixes.bar] : [])];
  }

  /** Nothing where there is nothing to say. */
  function paragraph(className: string, text: string | undefined) {
    if (!text) return [];
    const made = createElement("p", className);
    made.append(...nodesWithCode(text));
    return [made];
  }

  /** What torch itself has for it, with a link to its documentation. */
  function suggestionLine({ text, url }: TorchSuggestion) {
    const line = createElement("p", "finding-offer", `${say("finding_offer")} `);
    const link = createElement("a", "", say("finding_offer_page")) as HTMLAnchorElement;
    link.href = url;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    line.append(...nodesWithCode(text), " ", link);
    return line;
  }

  /** Where the documentation says more of such findings. */
  function aboutLine(kind: string) {
    const line = createElement("p", "finding-offer");
    const link = createElement("a", "", say("finding_about")) as HTMLAnchorElement;
    link.href = `${DOCUMENTATION_URL}/findings/${kind}.html`;
    link.target = "_blank";
    link.rel = "noopener";
    line.append(link);
    return line;
  }

  /** What torch itself says, folded. */
  function torchMessageElements() {
    const error = opened?.trace.outcome.error;
    if (!error) return [];
    const details = createElement("details", "finding-torch");
    details.append(
      createElement("summary", "", `${say("finding_torch")} `),
      createElement("p", "", `${error.type}: ${error.message}`),
    );
    details
      .querySelector("summary")
      ?.append(createElement("span", "", `${error.type}: ${error.message}`.slice(0, 120)));
    return [details];
  }

  function chainRow(link: ChainLink, text: string, isCause: boolean) {
    const row = createElement("li", "");
    const button = createElement("button", `finding-link${isCause ? " cause" : ""}`) as HTMLButtonElement;
    button.type = "button";
    const words = createElement("span", "");
    words.append(...nodesWithCode(text));
    if (isCause) words.append(" ", createElement("b", "finding-cause", say("finding_cause")));
    button.append(
      roleIcon(link.role),
      createElement("span", lineNameClass("finding-line", link.line), shortLineName(link.line)),
      words,
    );
    button.addEventListener("click", () => go(link.step));
    onHoverOrFocus(
      button,
      () => lightLink(link),
      () => lightLink(null),
    );
    openLinkButtons.push({ element: button, link });
    row.append(button);
    return row;
  }

  /** What stopped and where the cause is, or how grave it is. */
  function kickerText({ severity, cause, explainsError }: Finding) {
    const error = opened?.trace.outcome.error;
    if (!explainsError || !error?.line) return say(`finding_${severity}`, { line: cause.line });
    return error.line === cause.line
      ? say("finding_stopped", { line: error.line })
      : say("finding_stopped_cause", { line: error.line, cause: cause.line });
  }

  function show(step: number) {
    shownStep = step;
    for (const { element, link } of openLinkButtons) {
      if (link.step === step) element.setAttribute("aria-current", "step");
      else element.removeAttribute("aria-current");
    }
    host.classList.toggle("told-above", isDrawer && sentenceAt(step) !== null);
    for (const { element, step: last } of stillAhead)
      element.textContent = step < last ? ` · ${say("finding_ahead", { step: last + 1 })}` : "";
  }

  /** What the open finding says at a step that it is about; null elsewhere. */
  function sentenceAt(step: number): FindingSentence | null {
    const finding = openIndex === null ? undefined : findings[openIndex];
    const isTold = finding && isFindingShownAtStep(finding, step, opened?.trace.outcome.error?.step ?? null);
    return isTold && openIndex !== null ? { text: texts[openIndex].what, severity: finding.severity } : null;
  }

  /** The step at which all of it has happened. */
  function lastStepOf({ chain, cause, explainsError }: Finding) {
    const error = explainsError ? opened?.trace.outcome.error?.step : null;
    return Math.max(cause.step, error ?? 0, ...chain.map((link) => link.step));
  }

  smallScreen.addEventListener("change", draw);
  host.addEventListener("keydown", (event) => {
    if (event.key === "Escape") lightLink(null);
  });

  return {
    open,
    show,
    /** Whether it is a drawer, which is open where the window is high enough. */
    setDrawer(on: boolean) {
      if (on === isDrawer) return;
      isDrawer = on;
      isUnfolded = on && highWindow.matches;
      draw();
    },
    /** Whether there is more than notes. */
    hasGrave: () => findings.some(({ severity }) => severity !== "note"),
    /** Why the program raised, in a sentence with names in backticks; null where nothing is found that says so. */
    explanationOfError() {
      const k = findings.findIndex(({ kind, explainsError }) => explainsError && kind !== "unexplained_error");
      return texts[k]?.what ?? null;
    },
    sentenceAt,
    /** Move the focus to the first link, or to the first finding. */
    focus() {
      if (openLinkButtons.length && !isUnfolded && folds()) {
        isUnfolded = true;
        draw();
      }
      (openLinkButtons[0]?.element ?? host.querySelector<HTMLElement>(".finding-what, summary"))?.focus();
    },
  };
}
