// The conversation that stays open between runs: this device is a member of the fleet.

import * as messages from "./messages.js";
import { Socket } from "./socket.js";

/** A sign of life this often (ms). */
const ALIVE = 5000;

/**
 * A membership. `about` is `{url, name, token, version, system}`; `around` `{waiting(), changed(), summoned(message),
 * deliver(run), kept(run, sequence), forget(run), browser}`. `state` is `joining`, `member`, `away` or `refused`.
 */
export class Standing {
  constructor(about, around) {
    Object.assign(this, { about, around });
    this.state = "joining";
    this.fleet = "";
    this.reason = null;
    /** Whether it was a member once: then a refusal may pass. */
    this.known = false;
    const on = { open: () => this.enrol(), text: (text) => this.hear(text), lost: () => this.lost() };
    this.socket = new Socket(about.url, on, around.browser);
    this.timer = around.browser.setInterval(() => {
      if (this.state === "member") {
        this.socket.send(messages.alive());
      }
    }, ALIVE);
  }

  /** Leaves the fleet. */
  leave() {
    this.socket.send(messages.leave());
    this.end("left", null);
  }

  /** Says again who it is, and which results wait here. */
  again() {
    this.socket.again();
  }

  send(message) {
    this.socket.send(message);
  }

  enrol() {
    this.socket.send(messages.enrol({ ...this.about, waiting: this.around.waiting() }));
  }

  hear(text) {
    const message = messages.understood(text);
    const handle = {
      welcome: () => {
        this.state = "member";
        this.known = true;
        this.socket.welcomed();
        this.reason = null;
        this.fleet = String(message.fleet ?? "");
      },
      refused: () => this.refused(message.reason),
      summon: () => this.around.summoned(message),
      deliver: () => this.around.deliver(message.run),
      kept: () => this.around.kept(message.run, message.sequence),
      forget: () => this.around.forget(message.run),
      bye: () => {
        this.reason = message.reason ? String(message.reason) : null;
      },
    };
    if (Object.hasOwn(handle, message.type)) {
      handle[message.type]();
      this.around.changed();
    }
  }

  refused(why) {
    const reason = String(why ?? "no reason was given");
    if (this.state === "member") {
      return;
    }
    this.reason = reason;
    // A connection of ours that the controller still believes in gives way after a while; a token never gets right again.
    if (!this.known || /token/.test(reason)) {
      this.end("refused", reason);
    }
  }

  lost() {
    if (this.state !== "refused") {
      this.state = "away";
      this.around.changed();
    }
  }

  end(state, reason) {
    this.state = state;
    this.reason = reason;
    this.around.browser.clearInterval(this.timer);
    this.socket.close();
    this.around.changed();
  }
}
