/** What the rows of a net are called. */

import type { NetRow } from "./net_rows.ts";

/** The names of a row, as it shows them. */
export function netRowName({ kind, places }: Pick<NetRow, "kind" | "places">): string {
  const [first, last] = [places[0], places[places.length - 1]];
  if (kind === "repeat") return `${first.name}–${withoutCommon(first.name, last.name)}`;
  if (kind === "lines") return [...new Set(places.flatMap(({ name }) => name.split(", ")))].join(", ");
  if (kind === "fold") return [...new Set(places.map(({ name }) => name))].join(" ");
  return first.name;
}

/** Of the second of two paths what comes after the parts that they share. */
function withoutCommon(one: string, other: string) {
  const [parts, others] = [one.split("."), other.split(".")];
  const at = others.findIndex((part, k) => part !== parts[k]);
  return others.slice(Math.max(0, at)).join(".");
}
