// Displays the view model of the station. Strings from other sources are inserted as text, never as markup.

// The result on this device. The report's verdict also considers the self-check of all test machines.
const VERDICTS = {
  pass: "✓ Met",
  marginal: "~ Nearly met",
  fail: "✗ Missed",
  inconclusive: "? Too few samples",
  report: "Judged in the report",
  none: "",
};

const HEADS = {
  "no-key": "No key",
  "wrong-key": "Wrong key",
  join: "Join the test",
  joining: "Joining",
  rejected: "Rejected",
  member: "Ready",
  reconnecting: "Reconnecting",
  left: "Left",
  preparing: "Getting ready",
  idle: "Measuring idle latency",
  collecting: "Almost done",
  ended: "The run ended early",
};

const LINES = {
  "no-key": "The fleet's key is missing from this address. Scan the code on the controller's screen again.",
  "wrong-key": "The key in this address is not valid for this fleet. Scan the code on the controller's screen again.",
  join: "This device will help measure the network.",
  joining: "Connecting to the controller.",
  member: "Waiting for a run to start. Keep this page in front.",
  reconnecting: "The controller cannot be reached. Trying again.",
  left: "This device has left the test.",
};

export class Screen {
  constructor(document) {
    this.document = document;
    this.at = (id) => document.getElementById(id);
    this.cards = [];
  }

  /** Displays a view model (see `view_model.js`). */
  show(view) {
    const { state, workloads = [] } = view;
    const running = state === "running";
    const result = state === "result";
    this.text("name", view.name ?? "");
    this.text("title", view.title ?? "");
    this.text("head", running ? view.line : result ? "Measured" : (HEADS[state] ?? state));
    this.at("head").className = "";
    this.text("line", this.line(view));
    this.at("form").hidden = state !== "join" && state !== "rejected";
    this.at("leave").hidden = ["no-key", "wrong-key", "join", "rejected", "left"].includes(state);
    this.at("leave").textContent = result || state === "ended" ? "Done" : "Leave";
    this.at("bar").hidden = !["idle", "running", "collecting", "result"].includes(state);
    this.at("bar").className = result ? "past" : "";
    this.at("done").style.transform = `scaleX(${view.fraction ?? 0})`;
    this.drawWorkloads(workloads, running || result || state === "collecting");
    this.document.title = running ? `${view.line} – netburn` : "netburn station";
  }

  line({ state, line, disconnected, pending }) {
    if (state === "running") {
      return disconnected ? "The controller is disconnected; measuring continues." : "Measuring";
    }
    if (state === "result") {
      return line || "Measured by this device. The verdict is in the report, on the controller's computer.";
    }
    if (state === "member" && pending > 0) {
      return "Results of an earlier run are stored on this device and will be sent when the controller requests them.";
    }
    return state === "member" && line ? `${line} ${LINES.member}` : line || (LINES[state] ?? "");
  }

  /** Shows a warning; an empty text removes it. */
  warn(text) {
    this.text("warning", text);
  }

  hint(text) {
    this.text("hint", text);
  }

  showNameError(text) {
    this.text("name-error", text);
  }

  drawWorkloads(workloads, shown) {
    const list = this.at("workloads");
    list.hidden = !shown;
    while (this.cards.length < workloads.length) {
      this.cards.push(this.card(list));
    }
    while (this.cards.length > workloads.length) {
      this.cards.pop().item.remove();
    }
    workloads.forEach((workload, index) => {
      const card = this.cards[index];
      write(card.label, workload.label);
      write(card.verdict, VERDICTS[workload.verdict] ?? "");
      card.verdict.className = `verdict ${workload.verdict}`;
      write(card.number, workload.value);
      write(card.unit, ` ${workload.unit}`);
      write(card.details, workload.line);
    });
  }

  card(list) {
    const make = (name, parent, kind = "") => {
      const element = this.document.createElement(name);
      element.className = kind;
      parent.append(element);
      return element;
    };
    const item = make("li", list);
    const heading = make("div", item, "heading");
    const value = make("div", item, "value");
    return {
      item,
      label: make("span", heading),
      verdict: make("span", heading, "verdict"),
      number: make("span", value),
      unit: make("small", value),
      details: make("div", item, "details"),
    };
  }

  text(id, text) {
    write(this.at(id), text);
  }
}

/** Changes an element only if its text differs, so that screen readers announce only changes. */
function write(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}
