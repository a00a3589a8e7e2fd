/** What a program is about, for a paper or a file that has left the page: its title, a note, its address. */

/** @typedef {{title: string, note: string, address: string, recorded?: string}} About   note, address: empty where there is none;
 * recorded: where, if not by a server */

/** An address with more characters than this is not printed: nobody types it. */
const MAX_PRINTED_ADDRESS = 200;

/** @param {About} about @returns {HTMLElement} the head of a printed run */
export function printHead({ title, note, address }) {
  const head = document.createElement("header");
  head.className = "print-head";
  const heading = document.createElement("h1");
  heading.textContent = title;
  head.append(heading, ...[note, shortenedAddress(address)].filter(Boolean).map(paragraph));
  return head;
}

/** @param {About} about @returns {HTMLElement[]} note and address, for the page of a file */
export function aboutLines({ note, address, recorded = "" }) {
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

/** @param {string} text */
function paragraph(text) {
  const element = document.createElement("p");
  element.textContent = text;
  return element;
}

/** @param {string} address */
function shortenedAddress(address) {
  return address.length > MAX_PRINTED_ADDRESS ? address.replace(/#.*/s, "") : address;
}
