/** The address of a comparison: both programs, or the saved ones that the page was opened with, and the place in its fragment. */

import { ROOT } from "../requests/root.js";
import { packText, unpackText } from "../page_state/url.js";

/** @typedef {{left: string | null, right: string | null, row: number | null, broken: boolean}} CompareAddress
 *   left, right: programs, null where the page's own are meant; broken: there are programs that can't be read */

/** @param {string} fragment as `location.hash` gives it @returns {Promise<CompareAddress>} */
export async function readCompareAddress(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const rowIndex = Number.parseInt(fields.get("i") ?? "", 10);
  const row = Number.isSafeInteger(rowIndex) && rowIndex >= 0 ? rowIndex : null;
  try {
    const [left, right] = await Promise.all(["l", "r"].map((name) => unpackField(fields.get(name))));
    return { left, right, row, broken: false };
  } catch {
    return { left: null, right: null, row: null, broken: true };
  }
}

/** @param {string | null} packed */
async function unpackField(packed) {
  return packed === null ? null : unpackText(packed);
}

/** @param {string | null} left null where the page's own program is meant @param {string | null} right @param {number | null} row */
export async function compareFragment(left, right, row) {
  const fields = [];
  if (left !== null) fields.push(`l=${await packText(left)}`);
  if (right !== null) fields.push(`r=${await packText(right)}`);
  if (row !== null) fields.push(`i=${row}`);
  return `#${fields.join("&")}`;
}

/** The address of the page that shows two programs side by side. @param {string} left @param {string} right */
export async function compareAddress(left, right) {
  const { lang } = document.documentElement;
  return `${ROOT}/compare${lang === "zh" ? "?lang=zh" : ""}${await compareFragment(left, right, null)}`;
}
