// The search of the documentation: all words of the question must begin a word of a section.

"use strict";

const MAX_FOUND = 20;
/** Letters before and after the first word that was found. */
const AROUND = 90;

const field = document.getElementById("search");
const found = document.getElementById("found");
let sections = null;
let loading = null;

/** Parts of the documentation that few people look for. */
const RARE = /^(CHANGELOG|docs\/(contributing|results)\/)/;

/** index.js calls this with [path, title, anchor, heading, text] of each section. */
globalThis.netburnSections = (all) => {
  sections = all.map(([path, title, anchor, heading, text]) => ({ path, title, anchor, heading, text, lower: ` ${heading} ${text}`.toLowerCase(), top: ` ${title} ${heading}`.toLowerCase() }));
};

function load() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${document.body.dataset.up}index.js`;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

/** Number of times that `word` begins a word of `text`. */
function count(text, word) {
  let number = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(text[at - 1] ?? " ")) number += 1;
  }
  return number;
}

function score(section, words) {
  let sum = 0;
  for (const word of words) {
    const inTop = count(section.top, word);
    const inText = count(section.lower, word);
    if (inTop + inText === 0) return 0;
    sum += 10 * Math.min(inTop, 2) + Math.min(inText, 5);
  }
  return RARE.test(section.path) ? sum / 10 : sum;
}

function excerpt({ text }, words) {
  const lower = text.toLowerCase();
  const at = Math.max(0, Math.min(...words.map((word) => lower.indexOf(word)).filter((place) => place >= 0), text.length));
  const from = at >= text.length ? 0 : Math.max(0, at - AROUND);
  return `${from > 0 ? "… " : ""}${text.slice(from, from + 2 * AROUND).replace(/\s+/g, " ")}${from + 2 * AROUND < text.length ? " …" : ""}`;
}

function show(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  if (found.hidden) return;
  const ranked = sections.map((section) => ({ section, value: score(section, words) })).filter(({ value }) => value > 0).sort((one, other) => other.value - one.value);
  const list = document.createElement("ul");
  for (const { section } of ranked.slice(0, MAX_FOUND)) {
    const link = document.createElement("a");
    link.href = `${document.body.dataset.up}${section.path}${section.anchor ? `#${section.anchor}` : ""}`;
    link.textContent = section.heading && section.heading !== section.title ? `${section.title}: ${section.heading}` : section.title;
    const text = document.createElement("div");
    text.className = "quiet";
    text.textContent = excerpt(section, words);
    const item = document.createElement("li");
    item.append(link, text);
    list.append(item);
  }
  const number = document.createElement("p");
  number.textContent = ranked.length === 0 ? "Nothing found." : `${ranked.length} ${ranked.length === 1 ? "section" : "sections"} found.`;
  found.replaceChildren(number, list);
}

field.addEventListener("input", async () => {
  try {
    await load();
    show(field.value);
  } catch {
    found.hidden = false;
    found.textContent = "The index of the search cannot be loaded.";
  }
});
field.form.addEventListener("submit", (event) => event.preventDefault());
