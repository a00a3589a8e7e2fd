/** What the program on the page is called, and what a paper or a file that leaves the page says of it. */

import { titleFromFirstStatement, isPageProgram } from "../../page_state/selectors.ts";
import type { PageHost } from "../page_host.ts";
import type { ProgramDescription } from "../../browser/program_description.ts";
import type { PageState } from "../../page_state/state.ts";

type ElementById = PageHost["elementById"];

interface Program {
  source: string;
  pasted?: string | null;
}

/** The scenario or saved program that it is, else the first thing that it does. */
export function programName(elementById: ElementById, { page }: PageState, { source, pasted = null }: Program) {
  const { scenario, saved, title } = elementById("workbench").dataset;
  const name = scenario ?? saved;
  if (name && title && [source, pasted].includes(page.source)) return { name, title };
  return { name: "program", title: titleFromFirstStatement(source) };
}

export function describeProgram(elementById: ElementById, state: PageState): ProgramDescription {
  const { saved } = state.page;
  const { title } = programName(elementById, state, state.opened?.trace.program ?? { source: state.text });
  if (!isPageProgram(state)) return { title, note: "", address: location.href };
  return saved
    ? { title, note: saved.note || saved.description, address: new URL(saved.url, location.href).href }
    : { title, note: elementById("workbench").dataset.question ?? "", address: location.href };
}
