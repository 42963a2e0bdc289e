// State that survives a reload of the page. A worker has no storage: the page stores the entries and confirms each write.

/** Timeout for the confirmation of a write (ms). A page in the background may be slow. */
const WRITE_TIMEOUT = 2000;

/** The worker's side of the storage. `post` sends a message to the page. */
export class PersistentStore {
  constructor(post, entries = {}, browser = globalThis) {
    Object.assign(this, { post, browser });
    this.entries = new Map(Object.entries(entries));
    this.number = 0;
    this.pending = new Map();
  }

  /** Writes strings by key; `null` deletes a key. Resolves after the confirmation or the timeout. */
  put(entries) {
    for (const [key, value] of Object.entries(entries)) {
      if (value === null) {
        this.entries.delete(key);
      } else {
        this.entries.set(key, value);
      }
    }
    this.number += 1;
    const number = this.number;
    this.post({ store: entries, number });
    return new Promise((resolve) => {
      const timer = this.browser.setTimeout(() => this.handleStored(number), WRITE_TIMEOUT);
      this.pending.set(number, () => {
        this.browser.clearTimeout(timer);
        resolve();
      });
    });
  }

  /** The page has completed the write with this number. */
  handleStored(number) {
    this.pending.get(number)?.();
    this.pending.delete(number);
  }

  /** The stored data of a run: `{state, messages, results}`, or `null`. */
  run(run) {
    const state = this.entries.get(`run.${run}`);
    if (!state) {
      return null;
    }
    const prefix = `rows.${run}.`;
    const messages = [...this.entries]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, text]) => ({ sequence: Number(key.slice(prefix.length)), batch: JSON.parse(text) }))
      .map((message) => ({ ...message, rows: Object.values(message.batch).reduce((sum, rows) => sum + rows.length, 0) }))
      .sort((a, b) => a.sequence - b.sequence);
    const results = this.entries.get(`results.${run}`);
    return { state: JSON.parse(state), messages, results: results ? JSON.parse(results) : null };
  }

  /** The runs with stored data. */
  runs() {
    return [...this.entries.keys()].filter((key) => key.startsWith("run.")).map((key) => key.slice(4));
  }

  /** Deletes the stored data of a run. */
  delete(run) {
    const keys = [...this.entries.keys()].filter(
      (key) => key === `run.${run}` || key === `results.${run}` || key.startsWith(`rows.${run}.`),
    );
    return this.put(Object.fromEntries(keys.map((key) => [key, null])));
  }
}
