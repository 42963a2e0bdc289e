import { el } from "./dom.js";
import { QUEUES, USES, connect, get, line, list, position, positionText, remove, set, sqm, walls, wire } from "./home.js";

// The settings of the selected item, of the line, and of the walls. `change` receives a new scenario.

function field(label, input, hint) {
  return el("label", { class: "field" }, el("span", {}, label), input, hint ? el("span", { class: "quiet" }, hint) : null);
}

function select(options, value, onchange) {
  const known = options.some(([name]) => name === value) ? options : [...options, [value, value]];
  return el("select", { onchange: (event) => onchange(event.target.value) }, known.map(([name, words]) => el("option", { value: name, selected: name === value }, words)));
}

function input(attributes, onchange) {
  return el("input", { ...attributes, onchange: (event) => onchange(event.target.value, event.target) });
}

function check(label, checked, onchange) {
  return el("label", { class: "check" }, el("input", { type: "checkbox", checked, onchange: (event) => onchange(event.target.checked) }), ` ${label}`);
}

function placeFields(scenario, kind, name, change) {
  const at = position(scenario[kind][name].position);
  if (!at) return null;
  const axis = (which, words) => field(words, input({ type: "number", step: 0.5, value: at[which] }, (value) => change(set(scenario, [kind, name, "position"], positionText({ ...at, [which]: Number(value) })))));
  return el("div", { class: "pair" }, axis("x", "To the east in m"), axis("y", "To the north in m"));
}

function device(home, name, change) {
  const { scenario } = home;
  const keys = scenario.station[name];
  const own = list(keys.workload);
  const uses = USES.map(([use, words]) => check(words, own.includes(use), (on) => {
    const next = on ? [...own, use] : own.filter((one) => one !== use);
    change(set(scenario, ["station", name, "workload"], next.length > 0 ? next : ["probe"]));
  }));
  const others = own.filter((use) => USES.every(([known]) => known !== use));
  return [
    el("fieldset", {}, el("legend", {}, "What it does"), uses, others.length ? el("p", { class: "quiet" }, `Also: ${others.join(", ")}`) : null),
    keys.link ? null : check("has a cable", Boolean(keys.wired), (on) => change(wire(scenario, name, on))),
    keys.signal && !keys.wired ? field("Signal", input({ type: "range", min: -92, max: -30, value: parseFloat(keys.signal) }, (value) => change(set(scenario, ["station", name, "signal"], `${value} dBm`))), keys.signal) : null,
    keys.joins && Object.keys(scenario.network ?? {}).length + home.radios.length > 1
      ? field("Joins", select([...Object.keys(scenario.network ?? {}).map((net) => [net, `${net} (the best radio)`]), ...home.radios.map((radio) => [radio, radio])], keys.joins, (value) => change(set(scenario, ["station", name, "joins"], value))))
      : null,
    placeFields(scenario, "station", name, change),
  ];
}

function accessPoint(home, name, change) {
  const { scenario } = home;
  const keys = scenario.ap[name];
  const others = Object.keys(scenario.ap).filter((other) => other !== name);
  const parent = keys.backhaul && keys.backhaul !== "wired" ? keys.backhaul.split(".")[0] : "";
  const radios = Object.entries(keys.radio ?? {}).map(([radio, own]) => el("fieldset", {}, el("legend", {}, `Radio ${radio}`),
    field("Standard", select([["", "the usual one"], ["802.11n", "Wi-Fi 4 (802.11n)"], ["802.11ac", "Wi-Fi 5 (802.11ac)"], ["802.11ax", "Wi-Fi 6 (802.11ax)"], ["802.11be", "Wi-Fi 7 (802.11be)"]], own.standard ?? "", (value) => change(set(scenario, ["ap", name, "radio", radio, "standard"], value || undefined)))),
    field("Width", select([["", "the usual one"], ...["20 MHz", "40 MHz", "80 MHz", "160 MHz"].map((width) => [width, width])], own.width ?? "", (value) => change(set(scenario, ["ap", name, "radio", radio, "width"], value || undefined)))),
    field("Channel", input({ type: "number", min: 1, max: 233, value: own.channel ?? "", placeholder: "the usual one" }, (value) => change(set(scenario, ["ap", name, "radio", radio, "channel"], value ? Number(value) : undefined)))),
    field("Busy with other networks in %", input({ type: "number", min: 0, max: 90, value: parseFloat(own.channel_busy) || 0 }, (value) => change(set(scenario, ["ap", name, "radio", radio, "channel_busy"], Number(value) ? `${Number(value)} %` : undefined))))));
  return [
    field("Queue", select(QUEUES, keys.queue ?? "fifo", (value) => change(set(scenario, ["ap", name, "queue"], value)))),
    others.length > 0 && !keys.wan ? field("Connected", select([["", "by a cable to the router"], ...others.map((other) => [other, `through the air to ${other}`])], parent, (value) => change(connect(scenario, name, value || null)))) : null,
    radios,
    placeFields(scenario, "ap", name, change),
  ];
}

/** The settings of the selected item; a hint if none is selected. */
export function item(home, key, change, deselect) {
  const [kind, name] = key ? [key.split(" ", 1)[0], key.slice(key.indexOf(" ") + 1)] : [];
  if (!kind || !home.scenario[kind]?.[name]) return el("p", { class: "quiet" }, "Choose a device or an access point in the drawing to change it.");
  const settings = kind === "ap" ? accessPoint(home, name, change) : device(home, name, change);
  return el("div", {}, el("h3", {}, kind === "ap" ? `Access point ${name}` : name), settings,
    el("p", {}, el("button", { type: "button", onclick: () => { deselect(); change(remove(home.scenario, kind, name)); } }, `Remove ${name}`)));
}

/** The settings of the internet line. */
export function internet(home, change) {
  const { scenario } = home;
  const path = line(scenario);
  if (!path) {
    return el("p", {}, "This scenario has no internet line. ", el("button", { type: "button", onclick: () => change(set(scenario, ["router", "wan"], { down: "50 Mbit/s", up: "10 Mbit/s", delay: "5 ms" })) }, "Add one"));
  }
  const wan = get(scenario, path);
  const rate = (key, words) => field(words, input({ type: "number", min: 0.1, step: "any", value: parseFloat(wan[key]) || "" }, (value) => change(set(scenario, [...path, key], `${Number(value)} Mbit/s`))));
  const shaped = wan.discipline === "cake" || wan.discipline === "fq-codel";
  return el("div", {}, el("div", { class: "pair" }, rate("down", "Down in Mbit/s"), rate("up", "Up in Mbit/s")),
    check("SQM in the router (CAKE at 90 % of the line)", shaped, (on) => change(sqm(scenario, on))));
}

/** The walls as a list, and fields for a new one. */
export function wallList(home, change, drawsWalls, toggle) {
  const { scenario } = home;
  const all = scenario.building?.walls ?? [];
  const ends = ["0", "0", "4", "0"].map((value, index) => input({ type: "number", step: 0.5, value, "aria-label": ["from, to the east", "from, to the north", "to, to the east", "to, to the north"][index] }, () => {}));
  const add = () => {
    const [x1, y1, x2, y2] = ends.map(({ value }) => Number(value));
    change(set(scenario, ["building", "walls"], [...all, `${positionText({ x: x1, y: y1 })} to ${positionText({ x: x2, y: y2 })}`]));
  };
  return el("details", { open: drawsWalls }, el("summary", {}, `Walls (${all.length})`),
    el("p", {}, el("button", { type: "button", "aria-pressed": drawsWalls ? "true" : "false", onclick: toggle }, drawsWalls ? "Stop drawing walls" : "Draw walls with the pointer")),
    el("ul", {}, walls(scenario).map(({ index }) => el("li", {}, `${all[index]} `, el("button", { type: "button", "aria-label": `Remove the wall ${all[index]}`, onclick: () => change(set(scenario, ["building", "walls"], all.filter((_, other) => other !== index))) }, "×")))),
    el("p", { class: "ends" }, "From ", ends[0], ends[1], " to ", ends[2], ends[3], " ", el("button", { type: "button", onclick: add }, "Add")));
}
