/** The chain of a finding as the editor, the timeline and the list mark it. */

import { indexOfCauseLink, type Finding, type LinkRole, type Severity } from "./finding.ts";

/** of a chain */
export interface ChainMark {
  line: number;
  step: number;
  role: LinkRole;
  isCause: boolean;
  /** of the finding; absent in an answer */
  severity?: Severity;
  /** what happened there, in a sentence, and the entities that it names */
  text?: string;
  uids?: string[];
}

/** `sentences` say what happened at each link. */
export function chainMarksOf(finding: Finding, sentences: string[]): ChainMark[] {
  const cause = indexOfCauseLink(finding);
  const { severity } = finding;
  return finding.chain.map(({ line, step, role, uids }, i) => ({
    ...{ line, step, role, severity, uids },
    isCause: i === cause,
    text: sentences[i],
  }));
}

/** For each line its gravest link: the cause, else the last. */
export function mostSevereMarkByLine(marks: ChainMark[]): ChainMark[] {
  const byLine = new Map<number, ChainMark>();
  for (const mark of marks) if (!byLine.get(mark.line)?.isCause) byLine.set(mark.line, mark);
  return [...byLine.values()];
}
