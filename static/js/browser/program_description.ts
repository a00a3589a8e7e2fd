/** What a program is about, for a paper or a file that has left the page: its title, a note, its address. */

export interface ProgramDescription {
  title: string;
  /** note, address: empty where there is none */
  note: string;
  address: string;
  /** where, if not by a server */
  recorded?: string;
}

/** An address with more characters than this is not printed: nobody types it. */
const MAX_PRINTED_ADDRESS = 200;

/** The head of a printed run. */
export function printedRunHeader({ title, note, address }: ProgramDescription): HTMLElement {
  const head = document.createElement("header");
  head.className = "print-head";
  const heading = document.createElement("h1");
  heading.textContent = title;
  head.append(heading, ...[note, shortenedAddress(address)].filter(Boolean).map(paragraph));
  return head;
}

/** Note and address, for the page of a file. */
export function noteAndAddress({ note, address, recorded = "" }: ProgramDescription): HTMLElement[] {
  const elements = note ? [paragraph(note)] : [];
  for (const noteParagraph of elements) noteParagraph.dataset.answer = ""; // predict mode takes it away
  if (recorded) elements.push(paragraph(recorded));
  if (!/^https?:/.test(address)) return elements;
  const link = document.createElement("a");
  link.href = address;
  link.textContent = shortenedAddress(address);
  const line = document.createElement("p");
  line.append(link);
  return [...elements, line];
}

function paragraph(text: string) {
  const element = document.createElement("p");
  element.textContent = text;
  return element;
}

function shortenedAddress(address: string) {
  return address.length > MAX_PRINTED_ADDRESS ? address.replace(/#.*/s, "") : address;
}
