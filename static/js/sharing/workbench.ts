/** What leaves the workbench: its address, files, permalinks, and what another site's page takes of a saved program. */

import { startCopyLink } from "./copy_link.ts";
import { startRerun } from "./rerun.ts";
import { startSaving } from "./saving.ts";
import { startSharing } from "./sharing.ts";
import { startDownloadMenu } from "../picture/download.ts";
import { ROOT } from "../requests/root.ts";
import { fragmentOf } from "../page/address.ts";
import { aboutProgram, programName } from "../page/program_name.ts";
import {
  stepForAddress,
  isSavedProgram,
  isUpToDate,
  programTextForAddress,
  shownFocus,
} from "../page_state/selectors.ts";
import { predictFragment, stepFragment, viewFragment } from "../page_state/url.ts";
import type { PageHost } from "../page/page_host.ts";
import type { RequestProblem } from "../requests/trace_source.ts";

/** What is done where something was copied, and where it could not be. */
interface CopyCallbacks {
  copied: (name: string) => void;
  failed: () => void;
}

/** @param toggledFolds the stage's folds that the reader opened or closed */
export function startSharingParts(host: PageHost, toggledFolds: () => ReadonlySet<string>, onCopy: CopyCallbacks) {
  const { element, state, dispatch, say } = host;
  const showProblem = (problem: RequestProblem) => dispatch({ type: "problemFound", problem });
  const { saved } = state().page;
  startCopyLink(element("copy"), () => fragmentOf(state()), say, showProblem);
  startDownloadMenu(
    { button: element("takeaway"), menu: element("takeaway-menu"), body: element<HTMLTemplateElement>("offline") },
    () => shownRun(host, toggledFolds()),
    () => showProblem({ key: "take_failed" }),
  );
  startSaving(
    { button: element("save"), sheet: element("saving") },
    {
      say,
      content: () => savedContent(host),
      initial: () => initialFields(host),
      onSaved: (id) => openSaved(host, id),
    },
  );
  if (saved) startRerun({ button: element("rerun"), status: element("rerun-told") }, say, saved.id);
  startSharing(element("takeaway-menu"), () => shownPermalink(host), onCopy);
}

/** What files are made of; null where nothing is drawn. */
function shownRun({ element, state }: PageHost, toggled: ReadonlySet<string>) {
  const { opened, step } = state();
  if (!opened?.count) return null;
  const { name } = programName(element, state(), opened.trace.program);
  return { opened, toggled, step, name, about: aboutProgram(element, state()) };
}

/** What is saved besides the fields of the sheet. */
function savedContent(host: PageHost) {
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
function initialFields({ element, state }: PageHost) {
  const { page, text } = state();
  if (!page.saved) return { title: programName(element, state(), { source: text }).title };
  const { title, description, note } = page.saved;
  return { title, description, note };
}

function openSaved({ state }: PageHost, id: string) {
  const step = state().opened ? stepForAddress(state()) : null;
  location.assign(`${ROOT}/s/${id}?lang=${document.documentElement.lang}${stepFragment(step)}`);
}

/** The permalink of what is shown; null where that is not what was saved. */
function shownPermalink(host: PageHost) {
  const state = host.state();
  const { saved } = state.page;
  if (!saved || !isSavedProgram(state) || !isUpToDate(state)) return null;
  const { step, view, predict } = state;
  const fragment = stepFragment(step) + viewFragment(view) + predictFragment(predict !== null);
  return { url: new URL(saved.url, location.href).href, title: saved.title, step, fragment };
}
