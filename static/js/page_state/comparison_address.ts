/**
 * The address of a comparison: both programs, or the saved ones that the page was opened with, and the place in its
 * fragment.
 */

import { SERVER_ROOT } from "../requests/root.ts";
import { compressTextForUrl, decompressTextFromUrl } from "./url.ts";

interface ComparisonAddress {
  /** left, right: programs, null where the page's own are meant */
  left: string | null;
  right: string | null;
  row: number | null;
  /** there are programs that can't be read */
  broken: boolean;
}

/** Takes the fragment as `location.hash` gives it. */
export async function readComparisonAddress(fragment: string): Promise<ComparisonAddress> {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const rowIndex = Number.parseInt(fields.get("i") ?? "", 10);
  const row = Number.isSafeInteger(rowIndex) && rowIndex >= 0 ? rowIndex : null;
  try {
    const [left, right] = await Promise.all(["l", "r"].map((name) => unpackProgram(fields.get(name))));
    return { left, right, row, broken: false };
  } catch {
    return { left: null, right: null, row: null, broken: true };
  }
}

async function unpackProgram(packed: string | null) {
  return packed === null ? null : decompressTextFromUrl(packed);
}

/** `left` is null where the page's own program is meant. */
export async function comparisonFragment(left: string | null, right: string | null, row: number | null) {
  const fields = [];
  if (left !== null) fields.push(`l=${await compressTextForUrl(left)}`);
  if (right !== null) fields.push(`r=${await compressTextForUrl(right)}`);
  if (row !== null) fields.push(`i=${row}`);
  return `#${fields.join("&")}`;
}

/** The address of the page that shows two programs side by side. */
export async function comparisonAddress(left: string, right: string) {
  const { lang } = document.documentElement;
  return `${SERVER_ROOT}/compare${lang === "zh" ? "?lang=zh" : ""}${await comparisonFragment(left, right, null)}`;
}
