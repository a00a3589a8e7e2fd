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

/** The names of a row in so many letters: of many whole ones the first, and the last. */
export function netRowNameWithin(row: Pick<NetRow, "kind" | "places">, letters: number): string {
  const name = netRowName(row);
  if (row.kind !== "fold" || name.length <= letters) return name;
  const names = name.split(" ");
  const last = names.pop();
  while (names.length > 1 && `${names.join(" ")} … ${last}`.length > letters) names.pop();
  return `${names.join(" ")} … ${last}`;
}

/** Of the second of two paths what comes after the parts that they share. */
function withoutCommon(one: string, other: string) {
  const [parts, others] = [one.split("."), other.split(".")];
  const at = others.findIndex((part, k) => part !== parts[k]);
  return others.slice(Math.max(0, at)).join(".");
}
