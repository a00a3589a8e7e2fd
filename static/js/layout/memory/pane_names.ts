/** How a name is written beside its row: short under the heading that it begins with, with its function's otherwise. */

import { pathRoot } from "./first_names.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "../text/metrics.ts";
import type { NameTag } from "../../trace/names.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { ShownName, PlacedName } from "./memory_parts.ts";

/** `section` is that of the row. */
function shownNameOf(memoryStep: MemoryStep, tag: NameTag, section: string): ShownName {
  const isNew = tag.kind === "var" && memoryStep.touched.names.has(`${tag.frame}/${tag.name}`);
  if (tag.kind === "var") {
    const isUnderHeading = tag.scope !== "" && memoryStep.firstNames.sectionKeyByFrame.get(tag.frame ?? "") === section;
    return { tag, text: tag.text, scope: isUnderHeading ? "" : tag.scope, short: false, moved: isNew };
  }
  const isUnderObject = section !== "" && memoryStep.firstNames.sectionByKey.get(section)?.kind === "object";
  const isShort = isUnderObject && pathRoot(tag.text) === section && tag.text[section.length] === ".";
  return {
    tag,
    text: isShort ? tag.text.slice(section.length + 1) : tag.text,
    scope: "",
    short: isShort,
    moved: isNew,
  };
}

function shownNameWidth(name: ShownName, font: number) {
  return Math.ceil(textWidth(name.text, font) + (name.scope ? textWidth(name.scope, FONT_SIZES.small) + 5 : 0) + 17);
}

/** The names of a handle in lines as wide as their column. */
export function wrapNames(list: ShownName[], width: number, isOpen: boolean): { names: PlacedName[]; lines: number } {
  const placed: PlacedName[] = [];
  let x = 0;
  let line = 0;
  for (const name of list) {
    const isLarge = isOpen && !placed.length && shownNameWidth(name, FONT_SIZES.usual) <= width;
    const font = isLarge ? FONT_SIZES.usual : FONT_SIZES.small;
    const w = Math.min(width, shownNameWidth(name, font));
    if (x && x + w > width) {
      line += 1;
      x = 0;
    }
    placed.push({ ...name, x, line, w, font });
    x += w + 4;
  }
  return { names: placed, lines: placed.length ? line + 1 : 0 };
}

/** A name cut to its room, at its beginning, for a path says most at its end. */
export function cutPathAtStart(text: string, width: number, font: number) {
  const maxChars = Math.max(2, Math.floor(width / (CHARACTER_WIDTH_EM * font) + 0.02));
  const characters = Array.from(text);
  return characters.length <= maxChars ? text : `…${characters.slice(characters.length - maxChars + 1).join("")}`;
}

/** The names of a handle, its first name before the others. */
export function namesOfHandle(memoryStep: MemoryStep, uid: string, tags: NameTag[], section: string) {
  const firstName = memoryStep.firstNames.byUid.get(uid);
  const list = tags.map((tag) => shownNameOf(memoryStep, tag, section));
  return list.sort((a, b) => Number(b.tag.text === firstName?.path) - Number(a.tag.text === firstName?.path));
}

export function uidNumber(uid: string) {
  return Number(uid.replace(/^\D+/, ""));
}

/** What a thing is called in a sentence: its first name where it still has that, else the first that leads to it. */
export function nameInSentences(memoryStep: MemoryStep, uid: string): string | undefined {
  const firstName = memoryStep.firstNames.byUid.get(uid)?.path;
  const tags = memoryStep.names.tags.get(uid) ?? [];
  return tags.some((tag) => tag.text === firstName) ? firstName : memoryStep.names.paths.get(uid);
}
