// Creates elements from plain data. Strings become text, never markup.

/** Control characters, and characters that change the direction or are invisible, as in `sanitise` of the reports. */
const HARMFUL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** `text` without characters that could display something else. */
export function plain(text) {
  return String(text).replace(HARMFUL, "\ufffd");
}

/** The parts of a sentence, with commands between backticks as elements. */
export function prose(text) {
  return String(text ?? "").split("`").map((part, index) => (index % 2 === 1 ? el("code", {}, part) : part)).filter((part) => part !== "");
}

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : plain(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false).map((child) => (child instanceof Node ? child : plain(child))));
  return node;
}

/** An HTML element. Attributes that begin with `on` are event listeners. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

/** Replaces the children of `parent`. Unchanged nodes stay in place and keep their focus and selection. */
export function replace(parent, nodes) {
  nodes.forEach((node, index) => {
    if (parent.children[index] !== node) parent.insertBefore(node, parent.children[index] ?? null);
  });
  while (parent.children.length > nodes.length) parent.lastElementChild.remove();
}
