/** What leaves the workbench: its address, files, permalinks, and what another site's page takes of a saved program. */

import { startCopyLinkButton } from "./copy_link.ts";
import { startRerunButton } from "./rerun.ts";
import { startSaveSheet } from "./save_sheet.ts";
import { startShareMenu } from "./share_menu.ts";
import { startDownloadMenu } from "./download.ts";
import { downloadBlob } from "../browser/file_menu.ts";
import { loadFindings } from "../explain/findings_bundle.ts";
import { SERVER_ROOT } from "../requests/root.ts";
import { stateFragment } from "../page/address.ts";
import { describeProgram, programName } from "../page/program/program_name.ts";
import {
  stepForAddress,
  isSavedProgram,
  isTraceUpToDate,
  programTextForAddress,
  shownFocus,
} from "../page_state/selectors.ts";
import { predictFragment, stepFragment, viewFragment } from "../page_state/url.ts";
import { isStillRunning } from "../trace/steps/truncated_trace.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { SharedRun } from "../verdict/shared_finding.ts";
import type { PageHost } from "../page/page_host.ts";
import type { RequestProblem } from "../requests/trace_source.ts";

/** What is done where something was copied, and where it could not be. */
interface CopyCallbacks {
  copied: (name: string) => void;
  failed: () => void;
}

/** `toggledFolds` are the stage's folds that the reader opened or closed. */
export function startSharingParts(host: PageHost, toggledFolds: () => ReadonlySet<string>, onCopy: CopyCallbacks) {
  const { elementById, state, dispatch, say } = host;
  const showProblem = (problem: RequestProblem) => dispatch({ type: "problemFound", problem });
  const { saved } = state().page;
  startCopyLinkButton(elementById("copy"), () => stateFragment(state()), say, showProblem);
  startDownloadMenu(
    {
      button: elementById("takeaway"),
      menu: elementById("takeaway-menu"),
      body: elementById<HTMLTemplateElement>("offline"),
    },
    () => shownRun(host, toggledFolds()),
    () => showProblem({ key: "take_failed" }),
  );
  startSaveSheet(
    { button: elementById("save"), sheet: elementById("saving") },
    {
      say,
      content: () => contentToSave(host),
      initial: () => initialSaveFields(host),
      onSaved: (id) => openSavedProgram(host, id),
    },
  );
  if (saved) startRerunButton({ button: elementById("rerun"), status: elementById("rerun-told") }, say, saved.id);
  startShareMenu(elementById("takeaway-menu"), () => shownPermalink(host), onCopy);
  startFindingSharing(host, showProblem, onCopy);
}

/** What files are made of; null where nothing is drawn. */
function shownRun({ elementById, state }: PageHost, toggled: ReadonlySet<string>) {
  const { opened, step, view } = state();
  if (!opened?.count) return null;
  const { name } = programName(elementById, state(), opened.trace.program);
  return { opened, toggled, step, view, name, about: describeProgram(elementById, state()) };
}

/** What is saved besides the fields of the sheet. */
function contentToSave(host: PageHost) {
  const state = host.state();
  const { saved } = state.page;
  const parent = saved && (isSavedProgram(state) ? saved.parent : saved.id);
  const focus = shownFocus(state);
  return {
    source: programTextForAddress(state),
    language: document.documentElement.lang,
    settings: { ...state.settings, ...(focus && { focus }) },
    ...(parent && { parent }),
  };
}

/** What stands in the fields of the sheet at first. */
async function initialSaveFields(host: PageHost) {
  const { page } = host.state();
  if (!page.saved) return { title: await proposedTitle(host) };
  const { title, description, note } = page.saved;
  return { title, description, note };
}

/**
 * The scenario that it is, else the headline of what is wrong in its run, its main class, or the first thing that it
 * does.
 */
async function proposedTitle({ elementById, state }: PageHost) {
  const current = state();
  const { name, title } = programName(elementById, current, { source: current.text });
  if (name !== "program") return title;
  const headline =
    current.opened && isTraceUpToDate(current) && !isStillRunning(current.opened.trace)
      ? await headlineOfRun(current.opened)
      : "";
  return headline || mainClassOf(current.text) || title;
}

async function headlineOfRun(opened: OpenTrace) {
  try {
    const [{ findingHeadline }, findings] = await Promise.all([import("../verdict/shared_finding.ts"), loadFindings()]);
    return findingHeadline(opened, await findings.sentences());
  } catch {
    return ""; // the server has a newer page
  }
}

/** The last class that is a module: those before it are its parts. */
function mainClassOf(source: string) {
  return [...source.matchAll(/^class\s+([\p{L}_][\p{L}\p{N}_]*)\s*\([^)]*Module[^)]*\)/gmu)].at(-1)?.[1] ?? "";
}

/** The run as what is shared of it needs it; null where nothing is drawn. */
async function sharedRun(host: PageHost): Promise<SharedRun | null> {
  const subject = shownRun(host, new Set());
  if (!subject) return null;
  const findings = await loadFindings();
  const root = document.documentElement;
  const { themeOfPage } = await import("../picture/files.ts");
  return {
    opened: subject.opened,
    title: subject.about.title,
    theme: themeOfPage(root),
    language: root.lang,
    sayFinding: await findings.sentences(),
  };
}

/** The film, and the picture with its text: what the menu has of a run's finding. */
function startFindingSharing(host: PageHost, showProblem: (problem: RequestProblem) => void, onCopy: CopyCallbacks) {
  const menu = host.elementById("takeaway-menu");
  menu.addEventListener("click", async (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-verdict]") : null;
    if (!button) return;
    menu.hidePopover();
    try {
      const run = await sharedRun(host);
      if (!run) return;
      const shared = await import("../verdict/shared_finding.ts");
      if (button.getAttribute("data-verdict") === "film") {
        const film = shared.filmBlob(run);
        return downloadBlob(film, "gradbox-film.svg");
      }
      const parts = await shared.pictureWithText(run, shownPermalink(host)?.url ?? "");
      if (!(await shared.copyPictureWithText(parts))) downloadBlob(parts.png, "gradbox-finding.png");
      onCopy.copied(button.textContent ?? "");
    } catch {
      showProblem({ key: "take_failed" });
    }
  });
}

function openSavedProgram({ state }: PageHost, id: string) {
  const step = state().opened ? stepForAddress(state()) : null;
  location.assign(`${SERVER_ROOT}/s/${id}?lang=${document.documentElement.lang}${stepFragment(step)}`);
}

/** The permalink of what is shown; null where that is not what was saved. */
function shownPermalink(host: PageHost) {
  const state = host.state();
  const { saved } = state.page;
  if (!saved || !isSavedProgram(state) || !isTraceUpToDate(state)) return null;
  const { step, view, predict } = state;
  const fragment = stepFragment(step) + viewFragment(view) + predictFragment(predict !== null);
  return { url: new URL(saved.url, location.href).href, title: saved.title, step, fragment };
}
