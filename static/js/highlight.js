/** Highlighting: what is pointed at, or else what was selected, together with everything that it belongs to. */

/** What can be pointed at. */
export const HIGHLIGHTABLE =
  "[data-cell],[data-bead],[data-handle],[data-name],[data-path],[data-slot],[data-pin],[data-node],[data-edge],[data-counter-badge],[data-item],[data-object],[data-fold]";

/** Cells after this one are highlighted without a delay of their own. */
const DELAYED_CELLS = 40;

/**
 * A selection is called after what it is of, like `handle:t3`, and holds at every step where that is drawn.
 * @param {Element} root
 * @param {(key: string | null) => void} [onChoose] called with what the reader chooses; without it that is selected
 */
export function createHighlight(root, onChoose) {
  /** @type {Element | null} what is pointed at */
  let pointed = null;
  /** @type {string | null} */
  let selection = null;

  /** @param {Element} target */
  function highlight(target) {
    clear();
    const elements = related(root, target);
    if (elements.size < 2) return;
    for (const svg of root.querySelectorAll("svg")) svg.classList.add("lighting");
    let k = 0;
    for (const element of elements) {
      element.classList.add("lit");
      if (element instanceof SVGElement) element.style.setProperty("--k", String(Math.min(k, DELAYED_CELLS)));
      if (element.hasAttribute("data-cell")) k += 1;
    }
    target.classList.add("origin");
  }

  function clear() {
    for (const svg of root.querySelectorAll("svg.lighting")) svg.classList.remove("lighting");
    for (const element of root.querySelectorAll(".lit, .origin")) element.classList.remove("lit", "origin");
  }

  /** Nothing is pointed at any more, or the picture was drawn again: only the selection is highlighted. */
  function redraw() {
    pointed = null;
    const selected = selection === null ? null : elementOf(root, selection);
    if (selected) highlight(selected);
    else clear();
  }

  /** @param {string | null} key */
  function select(key) {
    if (key === selection) return;
    selection = key;
    redraw();
  }

  return {
    redraw,
    select,
    /** @param {Event} event */
    point(event) {
      const target = targetOf(event);
      if (target === pointed) return;
      if (!target) return redraw();
      highlight(target);
      pointed = target;
    },
    /** Select what was chosen; once more, or the ground, and nothing is. @param {Event} event */
    choose(event) {
      const target = targetOf(event);
      const key = target && keyOf(target);
      (onChoose ?? select)(key === selection ? null : key);
    },
    deselect: () => (onChoose ?? select)(null),
  };
}

/** @param {Event} event */
function targetOf(event) {
  return event.target instanceof Element ? event.target.closest(HIGHLIGHTABLE) : null;
}

const KINDS = ["handle", "name", "path", "slot", "pin", "node", "edge", "counter-badge", "item", "object", "bead"];

/** The key of an element that can be selected, the same at every step. @param {Element} target */
function keyOf(target) {
  const kind = KINDS.find((name) => target.hasAttribute(`data-${name}`));
  return kind ? `${kind}:${target.getAttribute(`data-${kind}`)}` : null;
}

/** The element of a key, where it is drawn now. @param {Element} root @param {string} key */
function elementOf(root, key) {
  const [, kind, value] = /^([a-z-]+):(.*)$/s.exec(key) ?? [];
  return KINDS.includes(kind)
    ? ([...root.querySelectorAll(`[data-${kind}]`)].find((el) => el.getAttribute(`data-${kind}`) === value) ?? null)
    : null;
}

/**
 * Everything that one thing belongs to, the thing itself first.
 * @param {Element} root @param {Element} target @returns {Set<Element>}
 */
export function related(root, target) {
  /** @type {Set<Element>} */
  const found = new Set([target]);
  /** @param {string} selector */
  const all = (selector) => {
    const list = [...root.querySelectorAll(selector)];
    for (const el of list) found.add(el);
    return list;
  };
  const at = (/** @type {Element} */ el, /** @type {string} */ name) => el.getAttribute(name) ?? "";
  /** @param {string} name @param {string} value */
  const is = (name, value) => `[${name}="${value.replace(/["\\]/g, "\\$&")}"]`;

  const node = (/** @type {string} */ uid) => {
    all(is("data-node", uid));
    all(`[data-members~="${uid}"]`);
  };
  const handle = (/** @type {string} */ uid, cells = true) => {
    for (const card of all(is("data-handle", uid))) {
      const counter = at(card, "data-counter");
      if (counter) all(is("data-counter-badge", counter));
      const made = at(card, "data-node-ref");
      if (made) node(made);
    }
    all(is("data-ref", uid));
    all(is("data-to", uid));
    all(is("data-variable", uid));
    if (!cells) return;
    for (const bead of all(`[data-bead^="${uid}:"]`))
      all(is("data-cell", at(bead, "data-reads")) + is("data-dtype", at(bead, "data-dtype")));
    all(is("data-wire", uid));
  };
  const slot = (/** @type {string} */ key) => {
    all(is("data-pin", key));
    all(is("data-leader", key));
    for (const el of all(is("data-slot", key))) {
      const storage = at(el, "data-saved-in");
      if (storage) all(is("data-storage-strip", storage));
    }
    node(key.slice(0, key.indexOf(":")));
  };

  const t = target;
  if (t.hasAttribute("data-cell")) {
    for (const bead of all(is("data-reads", at(t, "data-cell")) + is("data-dtype", at(t, "data-dtype"))))
      handle(at(bead, "data-bead").split(":")[0], false);
  } else if (t.hasAttribute("data-bead")) {
    handle(at(t, "data-bead").split(":")[0], false);
    all(is("data-cell", at(t, "data-reads")) + is("data-dtype", at(t, "data-dtype")));
  } else if (t.hasAttribute("data-handle")) handle(at(t, "data-handle"));
  else if (t.hasAttribute("data-slot")) slot(at(t, "data-slot"));
  else if (t.hasAttribute("data-pin")) slot(at(t, "data-pin"));
  else if (t.hasAttribute("data-counter-badge")) {
    for (const card of all(is("data-counter", at(t, "data-counter-badge")))) handle(at(card, "data-handle"), false);
    all(is("data-counter-badge", at(t, "data-counter-badge")));
  } else if (t.hasAttribute("data-node")) {
    const uid = at(t, "data-node");
    all(is("data-from", uid));
    all(is("data-to", uid));
    for (const s of all(`[data-slot^="${uid}:"]`)) slot(at(s, "data-slot"));
    for (const card of all(is("data-node-ref", uid))) handle(at(card, "data-handle"));
    if (at(t, "data-variable")) handle(at(t, "data-variable"));
  } else if (t.hasAttribute("data-members")) {
    const members = new Set(at(t, "data-members").split(" "));
    for (const card of root.querySelectorAll("[data-node-ref]"))
      if (members.has(at(card, "data-node-ref"))) handle(at(card, "data-handle"), false);
    for (const pin of root.querySelectorAll("[data-pin]"))
      if (members.has(at(pin, "data-pin").split(":")[0])) found.add(pin);
  } else if (t.hasAttribute("data-edge")) {
    all(is("data-node", at(t, "data-from")));
    all(is("data-node", at(t, "data-to")));
  } else {
    const ref = at(t, "data-ref") || at(t, "data-to") || at(t, "data-object");
    if (/^[ta]/.test(ref)) handle(ref);
    else if (ref) {
      all(is("data-object", ref));
      all(is("data-ref", ref));
      for (const item of all(`[data-item^="${ref}:"]`)) {
        const to = at(item, "data-to");
        if (/^[ta]/.test(to)) handle(to);
        else if (to) all(is("data-object", to));
      }
    }
  }
  return found;
}
