// What must survive a reload. The worker has no store of its own: the page writes it down and says when it has.

/** How long to wait for the page's word (ms): one in the background may take its time. */
const PATIENCE = 2000;

/** The worker's end. `post` sends to the page. */
export class Keeper {
  constructor(post, entries = {}, browser = globalThis) {
    Object.assign(this, { post, browser });
    this.entries = new Map(Object.entries(entries));
    this.number = 0;
    this.waiting = new Map();
  }

  /** Writes texts down by key; `null` takes one away. Resolves when that is done, or has taken too long. */
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
    this.post({ keep: entries, number });
    return new Promise((resolve) => {
      const timer = this.browser.setTimeout(() => this.kept(number), PATIENCE);
      this.waiting.set(number, () => {
        this.browser.clearTimeout(timer);
        resolve();
      });
    });
  }

  /** The page has written down what was sent under this number. */
  kept(number) {
    this.waiting.get(number)?.();
    this.waiting.delete(number);
  }

  /** All that is kept of a run: `{state, messages, results}`, or `null`. */
  run(run) {
    const state = this.entries.get(`run.${run}`);
    if (!state) {
      return null;
    }
    const prefix = `rows.${run}.`;
    const messages = [...this.entries]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, text]) => ({ sequence: Number(key.slice(prefix.length)), batch: JSON.parse(text) }))
      .sort((a, b) => a.sequence - b.sequence);
    const results = this.entries.get(`results.${run}`);
    return { state: JSON.parse(state), messages, results: results ? JSON.parse(results) : null };
  }

  /** The runs of which something is kept. */
  runs() {
    return [...this.entries.keys()].filter((key) => key.startsWith("run.")).map((key) => key.slice(4));
  }

  /** Takes away all that is kept of a run. */
  forget(run) {
    const gone = [...this.entries.keys()].filter(
      (key) => key === `run.${run}` || key === `results.${run}` || key.startsWith(`rows.${run}.`),
    );
    return this.put(Object.fromEntries(gone.map((key) => [key, null])));
  }
}
