/** The name of a tensor's gradient. */

import { code } from "./finding.js";

/** @typedef {import("./finding.js").Fact} Fact */

/** `x.grad` of what is called `x`; of a tensor without a name, what stands for it. @param {Fact} name @returns {Fact} */
export function gradName(name) {
  if (typeof name !== "object" || !("code" in name)) return name;
  return { ...code(`${name.code}.grad`), ...(name.also ? { also: `${name.also}.grad` } : {}) };
}

/** A name without the marks of code. @param {Fact} name */
export function plainName(name) {
  return typeof name === "object" && "code" in name ? name.code : "";
}
