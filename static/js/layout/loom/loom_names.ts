/** Names in little room: of a path its end matters, of a plain name its beginning. */

import { truncateText } from "../../trace/format.ts";

/** A path of more than `maxLength` characters cut before one of its parts: `…2.weight.grad`. */
export function pathThatFits(name: string, maxLength: number) {
  if (Array.from(name).length <= maxLength) return name;
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const end = name.slice(dot + 1);
    if (Array.from(end).length < maxLength) return `…${end}`;
  }
  return truncateText(name, maxLength);
}

/**
 * All names of something, which are parted by spaces, where they fit into `maxLength` characters, else the first and
 * how many more there are.
 */
export function namesThatFit(names: string, maxLength: number) {
  if (Array.from(names).length <= maxLength) return names;
  const list = names.split(" ");
  const moreText = list.length > 1 && maxLength > 12 ? ` +${list.length - 1}` : "";
  return pathThatFits(list[0], maxLength - moreText.length) + moreText;
}
