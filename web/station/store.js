// Storage of the page. The fleet's token and the name are permanent; the state of a run lives as long as the tab.

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

  /** The fleet's token, from the address or the storage. Removes it from the address. Empty if there is none. */
  token() {
    const { location, history } = this.browser;
    const token = location.hash.slice(1).split(".")[0];
    if (/^[\w-]{16,128}$/.test(token)) {
      history.replaceState(null, "", location.pathname);
      if (token !== this.read(KEY)) {
        // Another fleet, or the same fleet with a new token.
        this.remove(this.tab, JOINED);
      }
      this.write(this.tab, KEY, token);
      this.write(this.device, KEY, token);
      return token;
    }
    return this.read(KEY) ?? "";
  }

  /** The name of this device that the user chose before, or `null`. */
  get name() {
    return this.read(NAME);
  }

  set name(name) {
    this.write(this.tab, NAME, name);
    this.write(this.device, NAME, name);
  }

  /** True if this tab had joined before a reload. */
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

  /** The zero of this tab's clock. Stores `initial` if there is none. */
  zero(initial) {
    const stored = Number(this.get(this.tab, ZERO));
    if (stored > 0) {
      return stored;
    }
    this.write(this.tab, ZERO, String(initial));
    return initial;
  }

  /** The stored entries of the worker, by its keys. */
  entries() {
    const entries = {};
    for (let at = 0; at < (this.tab?.length ?? 0); at += 1) {
      const key = this.tab.key(at);
      if (key.startsWith(RUN)) {
        entries[key.slice(RUN.length)] = this.tab.getItem(key);
      }
    }
    return entries;
  }

  /** Stores the worker's entries; the value `null` deletes an entry. */
  store(entries) {
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
    // If the storage is full or disabled, only a reload loses data.
    safe(() => store.setItem(key, value));
  }

  remove(store, key) {
    safe(() => store.removeItem(key));
  }
}

function safe(access) {
  try {
    return access() ?? null;
  } catch {
    return null;
  }
}
