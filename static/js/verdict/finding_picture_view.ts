/** The first view of a run that leaves the page: its finding over the picture, until its reader steps. */

import { patchHost, SVG_NAMESPACE } from "../browser/svg.ts";
import { findingPicture, findingPictureSentences, type FindingPictureSubject } from "./finding_picture.ts";
import { plainText } from "./rich_text.ts";
import type { Verdict } from "./verdict.ts";

const SMALLEST_HEIGHT = 150;

/** Lays a run's finding over a part of the page; `go` leads to a step. Returns what takes it away. */
export function showFindingPicture(
  host: HTMLElement,
  verdict: Verdict,
  subject: FindingPictureSubject,
  go: (step: number) => void,
): () => void {
  const { say } = subject;
  const covered = [...host.children] as HTMLElement[];
  const section = document.createElement("section");
  section.className = "verdict-view";
  section.setAttribute("aria-label", plainText(verdict.headline));
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${plainText(verdict.headline)} ${findingPictureSentences(verdict)}`);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = say("verdict.step_through");
  const bar = document.createElement("div");
  bar.className = "verdict-view-bar";
  bar.append(button);
  section.append(svg, bar);
  host.append(section);
  for (const element of covered) element.inert = true;

  const draw = () => {
    const width = Math.max(1, Math.round(section.clientWidth));
    const height = Math.max(SMALLEST_HEIGHT, Math.round(section.clientHeight - bar.offsetHeight));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", String(width));
    svg.setAttribute("height", String(height));
    patchHost(document, svg, findingPicture(verdict, { width, height }, subject).nodes);
  };
  const observer = new ResizeObserver(draw);
  observer.observe(section);
  button.addEventListener("click", () => {
    remove();
    go(verdict.causeStep);
  });
  function remove() {
    observer.disconnect();
    section.remove();
    for (const element of covered) element.inert = false;
  }
  return remove;
}
