// Keeps the screen on, if the browser supports it (Screen Wake Lock API).

export class WakeLock {
  constructor(browser = globalThis) {
    this.browser = browser;
    this.lock = null;
    this.requested = false;
    browser.document?.addEventListener("visibilitychange", () => this.request(this.requested));
  }

  /** True if this browser supports wake locks. Most browsers support them only for pages loaded over HTTPS. */
  get isSupported() {
    return Boolean(this.browser.navigator.wakeLock);
  }

  async request(requested) {
    this.requested = requested;
    const { document, navigator } = this.browser;
    if (!requested) {
      const lock = this.lock;
      this.lock = null;
      await lock?.release();
    } else if (this.isSupported && !document.hidden && (this.lock?.released ?? true)) {
      try {
        this.lock = await navigator.wakeLock.request("screen");
      } catch {
        // The battery is low, or the page became hidden. The run continues without a wake lock.
      }
    }
  }
}
