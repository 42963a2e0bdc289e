// Keeps the screen on, where the browser lets a page do that.

export class Awake {
  constructor(browser = globalThis) {
    this.browser = browser;
    this.lock = null;
    this.wanted = false;
    browser.document?.addEventListener("visibilitychange", () => this.want(this.wanted));
  }

  /** Whether this browser could. Most only do it for pages that came over TLS. */
  get can() {
    return Boolean(this.browser.navigator.wakeLock);
  }

  async want(wanted) {
    this.wanted = wanted;
    const { document, navigator } = this.browser;
    if (!wanted) {
      const lock = this.lock;
      this.lock = null;
      await lock?.release();
    } else if (this.can && !document.hidden && (this.lock?.released ?? true)) {
      try {
        this.lock = await navigator.wakeLock.request("screen");
      } catch {
        // Low battery, or it was hidden again: without it the run goes on.
      }
    }
  }
}
