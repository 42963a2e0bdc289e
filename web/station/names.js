// Names of stations.

/** True if `text` is a valid name: 1 to 64 letters, digits and `-`. */
export function isName(text) {
  return /^[A-Za-z0-9-]{1,64}$/.test(text);
}

/** A default name for the device with this user agent string, such as `phone-4f`. */
export function suggestName(userAgent, random = Math.random) {
  const kind = /iPad|Tablet/.test(userAgent)
    ? "tablet"
    : /Mobi|iPhone/.test(userAgent)
      ? "phone"
      : /Android/.test(userAgent)
        ? "tablet"
        : /TV|SmartTV|Tizen|Web0S/i.test(userAgent)
          ? "tv"
          : /CrOS|Mac OS X|Windows|Linux/.test(userAgent)
            ? "laptop"
            : "station";
  const tail = Math.floor(random() * 256).toString(16).padStart(2, "0");
  return `${kind}-${tail}`;
}

/** Converts user input into a name: removes accents, and replaces spaces, `_` and `.` by `-`. */
export function normalizeName(text) {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .trim()
    .replace(/[\s_.]+/g, "-")
    .slice(0, 64);
}
