// Draws a picture of the station. Everything that came from elsewhere is put in as text, never as markup.

// What this device felt. The verdict is the report's, which knows more: whether others could be measured, and how well.
const FELT = { pass: "✓ Met", marginal: "~ Nearly met", fail: "✗ Missed", inconclusive: "? Too little", none: "" };

const HEADS = {
  "no-key": "No key",
  "wrong-key": "Wrong key",
  join: "Be a station",
  joining: "Joining",
  refused: "Not let in",
  member: "Ready",
  away: "Reconnecting",
  left: "Gone",
  preparing: "Getting ready",
  idle: "Hold still",
  collecting: "Almost done",
  ended: "It ended early",
};

const LINES = {
  "no-key": "This address lacks the fleet's key. Scan the code on the controller's screen again.",
  "wrong-key": "The key in this address isn't this fleet's, or not any more. Scan the code on the controller's screen again.",
  join: "It takes part in measuring this network.",
  joining: "Asking the controller.",
  member: "Waiting for a run to start. Keep this page in front.",
  away: "The controller can't be reached. Trying again.",
  left: "This device is no station any more.",
};

export class Screen {
  constructor(document) {
    this.document = document;
    this.at = (id) => document.getElementById(id);
    this.cards = [];
  }

  /** Shows a picture as `picture.js` makes it. */
  show(picture) {
    const { state, uses = [] } = picture;
    const running = state === "running";
    const result = state === "result";
    this.text("name", picture.name ?? "");
    this.text("title", picture.title ?? "");
    this.text("head", running ? picture.line : result ? "Measured" : (HEADS[state] ?? state));
    this.at("head").className = "";
    this.text("line", this.line(picture));
    this.at("form").hidden = state !== "join" && state !== "refused";
    this.at("leave").hidden = ["no-key", "wrong-key", "join", "refused", "left"].includes(state);
    this.at("leave").textContent = result || state === "ended" ? "Done" : "Leave";
    this.at("bar").hidden = !["idle", "running", "collecting", "result"].includes(state);
    this.at("bar").className = result ? "past" : "";
    this.at("done").style.transform = `scaleX(${picture.fraction ?? 0})`;
    this.drawUses(uses, running || result || state === "collecting");
    this.document.title = running ? `${picture.line} – netburn` : "netburn station";
  }

  line({ state, line, cut, waiting }) {
    if (state === "running") {
      return cut ? "The controller is away; measuring goes on." : "Measuring";
    }
    if (state === "result") {
      return line || "As this device felt it. The verdict is in the report.";
    }
    if (state === "member" && waiting > 0) {
      return "Results of an earlier run wait here until they are wanted.";
    }
    return state === "member" && line ? `${line} ${LINES.member}` : line || (LINES[state] ?? "");
  }

  /** Tells the person something that matters; empty takes it away. */
  warn(text) {
    this.text("warning", text);
  }

  hint(text) {
    this.text("hint", text);
  }

  wrong(text) {
    this.text("wrong", text);
  }

  drawUses(uses, shown) {
    const list = this.at("uses");
    list.hidden = !shown;
    while (this.cards.length < uses.length) {
      this.cards.push(this.card(list));
    }
    while (this.cards.length > uses.length) {
      this.cards.pop().item.remove();
    }
    uses.forEach((use, index) => {
      const card = this.cards[index];
      write(card.label, use.label);
      write(card.verdict, FELT[use.verdict] ?? "");
      card.verdict.className = `verdict ${use.verdict}`;
      write(card.number, use.value);
      write(card.unit, ` ${use.unit}`);
      write(card.more, use.line);
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
    const what = make("div", item, "what");
    const value = make("div", item, "value");
    return {
      item,
      label: make("span", what),
      verdict: make("span", what, "verdict"),
      number: make("span", value),
      unit: make("small", value),
      more: make("div", item, "more"),
    };
  }

  text(id, text) {
    write(this.at(id), text);
  }
}

/** Only what changes is touched, so that nothing is drawn, or read out, without need. */
function write(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}
