/** The name of a tensor's gradient. */

import { code, type Fact } from "./finding.ts";

/** `x.grad` of what is called `x`; of a tensor without a name, what stands for it. */
export function gradName(name: Fact): Fact {
  if (typeof name !== "object" || !("code" in name)) return name;
  return { ...code(`${name.code}.grad`), ...(name.also ? { also: `${name.also}.grad` } : {}) };
}

/** A name without the marks of code. */
export function plainName(name: Fact) {
  return typeof name === "object" && "code" in name ? name.code : "";
}
