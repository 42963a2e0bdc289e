// A measurement of the devices that have joined: its extent, its progress and its result.

import { reportUrl, viewUrl } from "./address.js";
import { get, post } from "./api.js";
import { plural } from "./display.js";
import { byId, el, prose, svg } from "./dom.js";

/** The interval of updates (ms). */
const INTERVAL = 1000;

/** Light modules around the code (ISO/IEC 18004 §9.1). */
const QUIET = 4;

/** A QR code from its rows of modules. */
function qrCode(rows) {
  const side = rows.length + 2 * QUIET;
  const dark = rows.flatMap((row, y) => [...row].map((bit, x) => (bit === "1" ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")));
  return svg("svg", { class: "code", viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": "QR code of the address", "shape-rendering": "crispEdges" },
    svg("rect", { width: side, height: side, fill: "#fff" }), svg("path", { d: dark.join(""), fill: "#000" }));
}

export class Measurement {
  constructor(showError) {
    this.showError = showError;
  }

  show() {
    this.shown = true;
    this.drawn = null;
    byId("measure").replaceChildren(el("p", { class: "quiet" }, "Loading …"));
    this.update(() => get("measure"));
  }

  hide() {
    this.shown = false;
    clearTimeout(this.timer);
  }

  /** Draws the result of a request, and repeats with a question for the state. */
  async update(request) {
    clearTimeout(this.timer);
    // Only the last of several requests is drawn and repeated.
    const number = (this.number = (this.number ?? 0) + 1);
    try {
      const found = await request();
      if (!this.shown || number !== this.number) return;
      this.showError(null);
      this.draw(found);
    } catch (error) {
      if (!this.shown || number !== this.number) return;
      this.showError(error);
    }
    this.timer = setTimeout(() => this.update(() => get("measure")), INTERVAL);
  }

  draw(found) {
    // A button that is replaced between press and release is not clicked.
    const content = JSON.stringify(found);
    if (content === this.drawn) return;
    this.drawn = content;
    const parts = found.available ? this.parts(found) : [el("p", {}, "This server starts no measurements: those of `netburn ui` and `netburn fleet serve` do.")];
    byId("measure").replaceChildren(el("p", {}, el("a", { href: "#" }, "All runs")), el("h1", {}, "Test my network"), ...parts.filter(Boolean));
  }

  parts({ offer, problem, last, invitation }) {
    if (last.state === "measuring") {
      return [
        el("p", { id: "measure-status", role: "status" }, last.text),
        el("progress", { max: 1, value: last.part, "aria-label": "Progress of the measurement" }),
        el("p", { class: "facts" }, "Keep the screens of phones on, with the page in the foreground, and don't move the devices."),
        el("p", {}, this.stopButton(), last.run && [" ", el("a", { href: viewUrl({ live: last.run }) }, "Live view")]),
      ];
    }
    if (last.state === "modelling") {
      return [
        el("p", { id: "measure-status", role: "status" }, `Looking for a model of your network that explains the measurement: ${last.models} simulations so far. It takes about a minute, and some minutes on a slow computer. The devices are not needed any more. If you stop it, the measurement is kept.`),
        el("p", {}, this.stopButton(), " ", this.report(last.run)),
      ];
    }
    const again = last.state !== "none";
    return [...this.result(last), ...(invitation ? this.beginning(offer, problem, again) : []), ...this.joining(invitation)];
  }

  /** How devices join, or a button that lets them. */
  joining(invitation) {
    if (!invitation) {
      return [
        el("p", { id: "offer" }, "First the devices of your home join. Nothing but their browser is needed, and netburn on a laptop or a board sees more, such as its Wi-Fi signal."),
        el("p", { class: "facts" }, "This computer should have a cable to the router, because its own Wi-Fi would be a part of every result. The test stays in your network, so it does not load the internet line; ", el("a", { href: "/runs/docs/docs/how-to/include-your-internet-line.html" }, "how to include it"), "."),
        el("p", { class: "facts" }, "This computer then accepts connections of other devices at port 4484 until netburn ends. Only a device with the address takes part. A firewall may ask you to permit it."),
        el("p", {}, el("button", { id: "invite", type: "button", class: "strong", onclick: () => this.update(() => post("invite")) }, "Let devices join")),
      ];
    }
    const { address, command, code } = invitation;
    return [
      el("h2", {}, "Let a device join"),
      el("p", {}, "Scan the code with a phone or a tablet, or open this address in a browser: ", el("code", { id: "join-address" }, address)),
      code.length ? qrCode(code) : null,
      el("p", {}, "On a laptop or a board with netburn: ", el("code", {}, command)),
    ];
  }

  result(last) {
    if (last.state === "done") {
      return [
        el("p", { id: "measure-status", role: "status" }, "The measurement is finished. ", this.report(last.run)),
        el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Findings" }, el("pre", { id: "findings" }, last.findings)),
        last.next && el("p", {}, "On the computer of this server, this command simulates remedies: ", el("code", {}, last.next)),
      ];
    }
    if (last.state === "failed") {
      const lines = last.text.split("\n").map((line) => el("p", { class: "warning" }, prose(`${line.charAt(0).toUpperCase()}${line.slice(1)}.`)));
      return [el("div", { id: "measure-status", role: "status" }, lines), last.run && el("p", {}, this.report(last.run))];
    }
    return [];
  }

  beginning(offer, problem, again) {
    if (!offer) return [el("p", { id: "offer" }, prose(problem))];
    const start = () => this.update(() => post("start-measurement", { devices: offer.devices }));
    return [
      again && el("h2", {}, "Measure again"),
      el("p", { id: "offer" }, `${plural(offer.devices.length, "device has", "devices have")} joined: ${offer.devices.join(", ")}. The measurement ${offer.extent}.`),
      offer.note && el("p", { class: "facts" }, offer.note),
      el("p", { class: "facts" }, "It loads the network, so calls and films of others suffer meanwhile. Keep the screens of phones on."),
      el("p", {}, el("button", { id: "measure-start", type: "button", class: "strong", onclick: start }, "Start the measurement")),
    ];
  }

  stopButton() {
    return el("button", { id: "measure-stop", type: "button", onclick: () => this.update(() => post("stop-measurement")) }, "Stop");
  }

  report(run) {
    return el("a", { class: "tool strong", href: reportUrl(run) }, "Open the report");
  }
}
