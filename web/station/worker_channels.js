// The worker's requests for connections of the page, each with a number.

export class WorkerChannels {
  /** `post(message)` sends to the page. */
  constructor(post) {
    this.post = post;
    this.count = 0;
    this.requests = new Map();
  }

  /** Requests a connection, as `openDataChannel` expects it. */
  connect() {
    this.count += 1;
    const number = this.count;
    const request = {};
    const promise = (name) =>
      new Promise((resolve, reject) => {
        request[name] = { resolve, reject };
      });
    const channel = promise("channel");
    const certificate = promise("certificate");
    // Only rejected, by an error of the page after the two others are resolved.
    const failure = promise("failure");
    // Each is awaited later, and possibly never.
    [channel, certificate, failure].forEach((each) => each.catch(() => {}));
    this.requests.set(number, request);
    this.post({ channel: { number, open: true } });
    return {
      channel,
      certificate,
      failure,
      answer: (answer) => this.post({ channel: { number, answer } }),
      close: () => {
        this.requests.delete(number);
        this.post({ channel: { number, close: true } });
      },
    };
  }

  /** Handles a message of the page: `{number}` with `channel`, `certificate` or `error`. */
  handle({ number, channel, certificate, error }) {
    const request = this.requests.get(number);
    if (error !== undefined) {
      Object.values(request ?? {}).forEach(({ reject }) => reject(new Error(error)));
    } else if (channel) {
      request?.channel.resolve(channel);
    } else if (certificate) {
      request?.certificate.resolve(certificate);
    }
  }
}
