// What this device remembers: the fleet's key and the name for good, a run under way for as long as the tab lives.

const KEY = "netburn.token";
const NAME = "netburn.name";
const ZERO = "netburn.zero";
const JOINED = "netburn.joined";
const RUN = "netburn.run.";

export class Store {
  constructor(browser = globalThis) {
    this.browser = browser;
    this.tab = safe(() => browser.sessionStorage);
    this.device = safe(() => browser.localStorage);
  }

  /** The fleet's token: out of the address, which then no longer shows it, or as it was kept. Empty when there is none. */
  token() {
    const { location, history } = this.browser;
    const token = location.hash.slice(1).split(".")[0];
    if (/^[\w-]{16,128}$/.test(token)) {
      history.replaceState(null, "", location.pathname);
      if (token !== this.read(KEY)) {
        // Another fleet, or the same with a new key.
        this.remove(this.tab, JOINED);
      }
      this.write(this.tab, KEY, token);
      this.write(this.device, KEY, token);
      return token;
    }
    return this.read(KEY) ?? "";
  }

  /** The name that was chosen before. */
  get name() {
    return this.read(NAME);
  }

  set name(name) {
    this.write(this.tab, NAME, name);
    this.write(this.device, NAME, name);
  }

  /** Whether this tab had joined before it was reloaded. */
  get joined() {
    return this.get(this.tab, JOINED) === "yes";
  }

  set joined(joined) {
    if (joined) {
      this.write(this.tab, JOINED, "yes");
    } else {
      this.remove(this.tab, JOINED);
    }
  }

  /** The zero of this tab's clock; `fresh` where there is none yet. */
  zero(fresh) {
    const kept = Number(this.get(this.tab, ZERO));
    if (kept > 0) {
      return kept;
    }
    this.write(this.tab, ZERO, String(fresh));
    return fresh;
  }

  /** What is kept of runs, by the worker's keys. */
  entries() {
    const found = {};
    for (let at = 0; at < (this.tab?.length ?? 0); at += 1) {
      const key = this.tab.key(at);
      if (key.startsWith(RUN)) {
        found[key.slice(RUN.length)] = this.tab.getItem(key);
      }
    }
    return found;
  }

  /** Writes down, or takes away (`null`), what the worker wants kept. */
  keep(entries) {
    for (const [key, value] of Object.entries(entries)) {
      if (value === null) {
        this.remove(this.tab, RUN + key);
      } else {
        this.write(this.tab, RUN + key, value);
      }
    }
  }

  read(key) {
    return this.get(this.tab, key) ?? this.get(this.device, key);
  }

  get(store, key) {
    return safe(() => store.getItem(key));
  }

  write(store, key, value) {
    // A full or forbidden store costs the survival of a reload, nothing else.
    safe(() => store.setItem(key, value));
  }

  remove(store, key) {
    safe(() => store.removeItem(key));
  }
}

function safe(what) {
  try {
    return what() ?? null;
  } catch {
    return null;
  }
}
