// What a station is called.

/** Whether the fleet takes it: letters, digits and `-`, at most 64. */
export function isName(text) {
  return /^[A-Za-z0-9-]{1,64}$/.test(text);
}

/** A name to begin with, such as `phone-4f`. */
export function suggestion(agent, random = Math.random) {
  const kind = /iPad|Tablet/.test(agent)
    ? "tablet"
    : /Mobi|iPhone/.test(agent)
      ? "phone"
      : /Android/.test(agent)
        ? "tablet"
        : /TV|SmartTV|Tizen|Web0S/i.test(agent)
          ? "tv"
          : /CrOS|Mac OS X|Windows|Linux/.test(agent)
            ? "laptop"
            : "station";
  const tail = Math.floor(random() * 256).toString(16).padStart(2, "0");
  return `${kind}-${tail}`;
}

/** What somebody typed, made a name as far as that can be done without a guess. */
export function tidy(text) {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .trim()
    .replace(/[\s_.]+/g, "-")
    .slice(0, 64);
}
