// The search of the documentation. Words of the question, without their endings, begin words of a section. Sections with all
// words come first, then those with most of them.

"use strict";

const MAX_FOUND = 20;
/** Letters before and after the first word that was found. */
const AROUND = 90;

const field = document.getElementById("search");
const found = document.getElementById("found");
let sections = null;
let loading = null;

/** Words that say nothing about what is looked for. */
const EMPTY = new Set("a about after all an and any are as at be before by can check do does for from get has have how i if in install is it its me must my no not of on one or should so someone something that the their then there they this to us use what when where which who why will with would you your".split(" "));
/** Beginnings of words with the same meaning for a reader. */
const SAME = [
  ["stutter", "lag", "freez", "buffer", "gap", "jerk"],
  ["buy", "purchas"],
  ["cit", "doi"],
  ["wi-fi", "wifi", "wlan", "wireless"],
  ["line", "internet", "isp", "broadband"],
  ["router", "access point"],
  ["slow", "delay", "latenc"],
  ["ci", "continuous integration"],
];

/** A text whose words are compared: lower case, and one kind of hyphen. */
function plainText(text) {
  return text.toLowerCase().replaceAll("_", "-").replaceAll("\u2011", "-");
}

/** A word without its ending, so that `lagging` finds `lag`, and `citation` finds `cite`. */
function stem(word) {
  if (word.length < 5 || /\d/.test(word)) return word;
  const short = word.replace(/(ations?|ings?|ed|es|s|e)$/, "");
  if (short.length < 3) return word;
  return short.replace(/([bdgmnprt])\1$/, "$1");
}

/** For each word of a question that says something, the beginnings of words that answer it. */
function wanted(query) {
  const words = plainText(query).split(/[\s,;?!.]+/).filter(Boolean);
  const telling = words.filter((word) => !EMPTY.has(word));
  return (telling.length > 0 ? telling : words).map((word) => {
    const own = stem(word);
    const same = SAME.find((group) => group.some((one) => one === word || own.startsWith(one)));
    return [...new Set([own, ...(same ?? [])])];
  });
}

/** Parts of the documentation that few people look for. */
const RARE = /^(CHANGELOG|docs\/(contributing|results)\/)/;
/** Parts that answer a question of a person with a problem. */
const GUIDE = /^docs\/(FAQ|how-to\/)/;

/** index.js calls this with [path, title, anchor, heading, text] of each section. */
globalThis.netburnSections = (all) => {
  sections = all.map(([path, title, anchor, heading, text]) => ({ path, title, anchor, heading, text, lower: plainText(` ${heading} ${text}`), top: plainText(` ${title} ${heading}`) }));
};

function load() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${document.body.dataset.up}index.js`;
    script.onload = resolve;
    script.onerror = () => {
      // The next letter tries again.
      loading = null;
      reject(new Error("the index cannot be loaded"));
    };
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

/** Number of the words that a section has, and how often it has them. A synonym counts less than the word itself. */
function score(section, words) {
  let [has, sum] = [0, 0];
  for (const alternatives of words) {
    const values = alternatives.map((word, index) => (10 * Math.min(count(section.top, word), 2) + Math.min(count(section.lower, word), 5)) / (index === 0 ? 1 : 3));
    const best = Math.max(...values);
    if (best > 0) has += 1;
    sum += best;
  }
  return { has, value: RARE.test(section.path) ? sum / 10 : GUIDE.test(section.path) ? 2 * sum : sum };
}

function excerpt({ text }, words) {
  const lower = plainText(text);
  const at = Math.max(0, Math.min(...words.flat().map((word) => lower.indexOf(word)).filter((place) => place >= 0), text.length));
  const from = at >= text.length ? 0 : Math.max(0, at - AROUND);
  return `${from > 0 ? "… " : ""}${text.slice(from, from + 2 * AROUND).replace(/\s+/g, " ")}${from + 2 * AROUND < text.length ? " …" : ""}`;
}

function show(query) {
  const words = wanted(query);
  found.hidden = words.length === 0;
  if (found.hidden) return;
  // Most of the words are enough, because a question has words that no page needs.
  const few = Math.ceil(words.length / 2);
  const ranked = sections.map((section) => ({ section, ...score(section, words) })).filter(({ has }) => has >= few)
    .sort((one, other) => other.has - one.has || other.value - one.value);
  const complete = ranked.filter(({ has }) => has === words.length).length;
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
  if (ranked.length === 0) {
    const link = (path, words) => Object.assign(document.createElement("a"), { href: document.body.dataset.up + path, textContent: words });
    number.append("Nothing found. Try another word, or ", link("docs/FAQ.html", "frequent questions"), " and ", link("docs/how-to/after-a-fail.html", "what to do after a fail"), ".");
  } else if (complete === 0) number.textContent = "No section has all words. These have most of them.";
  else number.textContent = `${complete} ${complete === 1 ? "section has" : "sections have"} all words.`;
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
