/** The answer to what a reader asks of a tensor: a card over the findings, and the button on the stage that asks. */

import { nodesWithCode, paragraphWithCode, createElement, onHoverOrFocus } from "../browser/elements.ts";
import { closestMarkTarget } from "../browser/targets.ts";
import { roleIcon, severityIcon } from "./finding_icons.ts";
import type { LoadFindings, FindingsApi } from "./findings_card.ts";
import type { ChainMark } from "../findings/chain_marks.ts";
import { lineNameClass, shortLineName } from "../trace/program_files.ts";
import { indexOfCauseLink, type ChainLink, type LineAndStep } from "../findings/finding.ts";
import type { RunFacts } from "../findings/facts/run_facts.ts";
import type { TensorAnswer } from "../findings/gradients/tensor_question.ts";
import type { AnswerText } from "../findings/finding_text.ts";
import type { CreateCheckPanel, CheckPanelLoader } from "./check_panel.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Locale } from "../words/sentences.ts";

/** Where the page puts its parts under each other. */
const NARROW_SCREEN_QUERY = "(max-width: 860px)";

interface AskedQuestion {
  uid: string;
  step: number;
}

interface QuestionCardOptions {
  load: LoadFindings;
  /** to a step */
  go: (step: number) => void;
  /** entities, none for nothing */
  light: (uids: string[]) => void;
  /** the lines of the answer, null where there is none */
  mark: (marks: ChainMark[] | null) => void;
  /** ask, close: the reader asks about a tensor, or has read the answer */
  ask: (uid: string) => void;
  close: () => void;
  /** what makes the panel that checks gradients, where there is a server to run them; fetched with the first answer */
  loadCheckPanel?: CheckPanelLoader;
}

/** The answer is put into `card`, the button that asks into `stage`. */
export function createQuestionCard(
  { card, stage }: { card: HTMLElement; stage: HTMLElement },
  say: Locale["say"],
  { load, go, light: lightUids, mark: markChain, ask, close, loadCheckPanel }: QuestionCardOptions,
) {
  let findingsApi: FindingsApi | null = null;
  let checkPanel: CreateCheckPanel | null = null;
  /** the sentences of findings, once they are there */
  let sayFinding: Locale["say"] | null = null;
  let factsOfRun: { opened: OpenTrace; facts: RunFacts } | null = null;
  /** the links of the answer */
  let answerLinks: { element: HTMLElement; step: number }[] = [];
  let shownStep = -1;
  /** What the button would ask about. */
  let offeredUid: string | null = null;
  let offerCount = 0;
  let showCount = 0;
  /** What had the focus when the reader asked. */
  let focusBefore: Element | null = null;

  const button = createElement("button", "ask quiet") as HTMLButtonElement;
  button.type = "button";
  button.hidden = true;
  button.addEventListener("click", () => offeredUid && ask(offeredUid));
  stage.append(button);

  async function factsOf(opened: OpenTrace) {
    findingsApi ??= await load().catch(() => null); // offline, or the server has a newer page
    if (findingsApi) sayFinding ??= await findingsApi.sentences().catch(() => null);
    if (findingsApi && factsOfRun?.opened !== opened) factsOfRun = { opened, facts: new findingsApi.RunFacts(opened) };
    return findingsApi && factsOfRun && factsOfRun.opened === opened
      ? { api: findingsApi, facts: factsOfRun.facts }
      : null;
  }

  const sayText = () => sayFinding ?? say;

  /** Offer to ask about what is selected. */
  async function offer(opened: OpenTrace | null, selection: string | null, step: number) {
    offeredUid = null;
    const offerId = ++offerCount;
    if (!opened?.count || !selection) {
      button.hidden = true;
      return;
    }
    const loaded = await factsOf(opened);
    if (offerId !== offerCount) return;
    const uid = loaded?.api.selectedTensor(opened, selection, step) ?? null;
    button.hidden = !loaded || !uid;
    if (!loaded || !uid) return;
    offeredUid = uid;
    const question = loaded.api.questionText(loaded.facts, uid, step, sayText());
    button.replaceChildren(...nodesWithCode(question), " ", createElement("kbd", "", "w"));
  }

  async function show(opened: OpenTrace | null, question: AskedQuestion | null) {
    answerLinks = [];
    lightUids([]);
    const showId = ++showCount;
    const loaded = opened && question ? await factsOf(opened) : null;
    if (loaded && loadCheckPanel) checkPanel ??= await loadCheckPanel().catch(() => null);
    if (showId !== showCount) return;
    if (!loaded || !opened || !question) {
      if (!card.hidden) markChain(null);
      card.hidden = true;
      card.replaceChildren();
      return;
    }
    const answer = loaded.api.answerAboutTensor(loaded.facts, question.uid, question.step);
    if (!card.contains(document.activeElement)) focusBefore = document.activeElement;
    card.hidden = false;
    card.replaceChildren(articleElement(answer, opened, loaded.api.answerText(answer, sayText())));
    markChain(answerChainMarks(answer));
    showStep(shownStep);
    const heading = card.querySelector("h3") as HTMLElement | null;
    heading?.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }

  function articleElement(answer: TensorAnswer, opened: OpenTrace, text: AnswerText) {
    const article = createElement("article", "finding open answer");
    article.dataset.question = answer.question;
    const head = createElement("h3", "answer-head");
    head.tabIndex = -1;
    const kicker = createElement("span", "finding-kicker");
    kicker.append(...nodesWithCode(text.title));
    const sentence = createElement("span", "finding-sentence");
    sentence.append(...nodesWithCode(text.what));
    head.append(severityIcon("note"), kicker, sentence);
    const closeButton = createElement("button", "answer-close quiet", "✕") as HTMLButtonElement;
    closeButton.type = "button";
    closeButton.title = closeButton.ariaLabel = say("answer_close");
    closeButton.addEventListener("click", leave);
    article.append(head, closeButton);
    if (text.why) article.append(paragraphWithCode("finding-why", text.why));
    article.append(...chainElements(answer, text));
    if (text.todo) article.append(paragraphWithCode("finding-todo", text.todo));
    article.append(...checkPanels(answer, opened));
    return article;
  }

  /** Where the gradients of the last backward can be checked. */
  function checkPanels({ uid, step }: TensorAnswer, opened: OpenTrace): HTMLElement[] {
    if (!checkPanel || !findingsApi || factsOfRun?.opened !== opened) return [];
    const { facts } = factsOfRun;
    const { backwardToCheck, resolvePath } = findingsApi;
    const backward = backwardToCheck(facts, step);
    if (!backward) return [];
    const name = facts.nameFact(uid, step);
    const lightLeaf = (path: string | null) => {
      const leafUid = path && resolvePath(facts, path, step);
      lightUids(leafUid ? [leafUid] : []);
    };
    const askedName = typeof name === "object" && "code" in name ? name.code : "";
    return [
      checkPanel({
        opened,
        backward: backward.number,
        asked: askedName,
        say: sayText(),
        light: lightLeaf,
      }),
    ];
  }

  function chainElements({ rows, finding }: TensorAnswer, text: AnswerText) {
    const list = createElement("ol", "finding-chain");
    list.setAttribute("aria-label", say("answer_ways"));
    const chain = finding?.chain ?? [];
    const cause = finding ? indexOfCauseLink(finding) : -1;
    list.append(...rows.map((row, k) => rowElement({ ...row, text: text.rows[k] })));
    if (!rows.length)
      list.append(
        ...chain.map((link, k) =>
          rowElement({ ...link, text: text.chain[k], depth: 0, source: null, isCause: k === cause }),
        ),
      );
    return list.children.length ? [list] : [];
  }

  function rowElement({
    role,
    line,
    step,
    uids,
    text,
    depth,
    source,
    isCause = false,
  }: Pick<ChainLink, "role" | "line" | "step" | "uids"> & {
    text: string;
    depth: number;
    source: LineAndStep | null;
    isCause?: boolean;
  }) {
    const item = createElement("li", "answer-row");
    item.style.setProperty("--depth", String(depth));
    const className = lineNameClass("answer-line finding-line", line);
    const lineButton = linkButton(shortLineName(line), className, source?.step ?? step, uids);
    lineButton.ariaLabel = say("answer_line", { line });
    const sentenceButton = linkButton("", "finding-link", step, uids);
    const sentence = createElement("span", "");
    sentence.append(...nodesWithCode(text));
    sentenceButton.classList.toggle("cause", isCause);
    if (isCause) sentence.append(" ", createElement("b", "finding-cause", say("finding_cause")));
    sentenceButton.append(sentence);
    item.append(roleIcon(role), lineButton, sentenceButton);
    return item;
  }

  function linkButton(text: string, className: string, step: number, uids: string[]) {
    const made = createElement("button", className, text) as HTMLButtonElement;
    made.type = "button";
    made.addEventListener("click", () => {
      go(step);
      // there the card stands below it
      if (matchMedia(NARROW_SCREEN_QUERY).matches) stage.scrollIntoView({ block: "nearest" });
    });
    onHoverOrFocus(
      made,
      () => lightUids(uids),
      () => lightUids([]),
    );
    answerLinks.push({ element: made, step });
    return made;
  }

  function showStep(step: number) {
    shownStep = step;
    for (const { element, step: linkStep } of answerLinks) {
      if (linkStep === step && element.classList.contains("finding-link")) element.setAttribute("aria-current", "step");
      else element.removeAttribute("aria-current");
    }
  }

  function leave() {
    close();
    if (focusBefore instanceof HTMLElement || focusBefore instanceof SVGElement)
      focusBefore.focus({ preventScroll: true });
  }

  card.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });

  return {
    offer,
    show,
    showStep,
    /** Whether something is selected, or has the focus, that may be asked about. */
    canAsk: () => Boolean(offeredUid) || focusedSelectionKey(stage) !== null,
    /** Ask about what is selected, or else what has the focus. */
    async askFocused(opened: OpenTrace | null, step: number) {
      if (offeredUid) return ask(offeredUid);
      const loaded = opened?.count ? await factsOf(opened) : null;
      const key = focusedSelectionKey(stage);
      const uid = loaded && opened && key ? loaded.api.selectedTensor(opened, key, step) : null;
      if (uid) ask(uid);
    },
  };
}

/** The drawn thing that has the focus or the pointer, as a selection says it. */
function focusedSelectionKey(stage: HTMLElement) {
  const focused = document.activeElement && stage.contains(document.activeElement) ? document.activeElement : null;
  const target =
    focused ?? [...stage.querySelectorAll("[data-handle]:hover, [data-ref]:hover, [data-node]:hover")].at(-1) ?? null;
  const handle = closestMarkTarget(target, ["handle"]);
  if (handle) return `handle:${handle.target.uid}`;
  const name = closestMarkTarget(target, ["name", "path"]);
  if (name?.target.ref) return `ref:${name.target.ref}`;
  const node = closestMarkTarget(target, ["node"]);
  return node && `node:${node.target.uid}`;
}

/** The lines for editor and timeline: of a gradient its own parts, else the chain that says why there is none. */
function answerChainMarks({ rows, finding }: TensorAnswer): ChainMark[] {
  if (!rows.length)
    return (finding?.chain ?? []).map(({ line, step, role }) => ({
      line,
      step,
      role,
      isCause: step === finding?.cause.step,
    }));
  const ownRows = rows.filter((row) => row.own || row.role === "gradient" || row.role === "written");
  return ownRows.map(({ line, step, role }) => ({ line, step, role, isCause: false }));
}
