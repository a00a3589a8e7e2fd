/** Names in little room: of a path its end matters, of a plain name its beginning. */

import { truncate } from "./metrics.js";

/** A path cut before one of its parts where it is too long: `…2.weight.grad`. @param {string} name
 * @param {number} maxLength characters */
export function shortPath(name, maxLength) {
  if (Array.from(name).length <= maxLength) return name;
  for (let at = name.indexOf("."); at >= 0; at = name.indexOf(".", at + 1)) {
    const end = name.slice(at + 1);
    if (Array.from(end).length < maxLength) return `…${end}`;
  }
  return truncate(name, maxLength);
}

/** All names of something where there is room for them, else the first and how many more there are.
 * @param {string} names parted by spaces @param {number} maxLength characters */
export function fitNames(names, maxLength) {
  if (Array.from(names).length <= maxLength) return names;
  const list = names.split(" ");
  const more = list.length > 1 && maxLength > 12 ? ` +${list.length - 1}` : "";
  return shortPath(list[0], maxLength - more.length) + more;
}
