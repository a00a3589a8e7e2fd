/** Packages that a program imports and the server does not offer, by the refusals of its trace. */

import type { Trace } from "../trace/wire.ts";

export interface MissingPackage {
  name: string;
  /** lines that import it, and lines that use what they bind */
  imported: number[];
  used: number[];
}

/** In order of their first line. */
export function missingPackages({ outcome }: Trace): MissingPackage[] {
  const byName = new Map<string, MissingPackage>();
  for (const { line, args = {} } of outcome.error?.refusals ?? []) {
    if (typeof args.package !== "string") continue;
    const known = byName.get(args.package) ?? { name: args.package, imported: [], used: [] };
    known.imported.push(line);
    known.used = Array.isArray(args.lines) ? args.lines.filter((used) => typeof used === "number") : [];
    byName.set(args.package, known);
  }
  return [...byName.values()];
}
