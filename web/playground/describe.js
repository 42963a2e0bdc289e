import { el } from "./dom.js";

// A dialog that asks about a home. Its answers are those to the questions of `netburn init`, each in a line.

const ACTIVITIES = [["call", "calls"], ["video", "makes video calls"], ["web", "loads web pages"], ["film", "streams 4K films"], ["game", "plays"], ["cloudgame", "streams a game"], ["download", "downloads"], ["upload", "uploads"]];
const ROOMS = [["living", 6, 4], ["study", 4, 4], ["bed", 4, 4]];
const DEVICES = [["laptop", "study", "video"], ["tv", "living", "film"], ["phone", "bed", "upload"]];

function labelled(words, control) {
  return el("label", { class: "field" }, el("span", {}, words), control);
}

function options(pairs, chosen) {
  return pairs.map(([value, words]) => el("option", { value, selected: value === chosen }, words));
}

/** Name without what a scenario does not accept. */
function named30(text) {
  return text.trim().replaceAll(/[^a-zA-Z0-9-]+/g, "-").replaceAll(/^-+|-+$/g, "").slice(0, 30);
}

/** The dialog. `describe` receives the answers and returns what is wrong, or `null`. */
export function describing(describe) {
  const rating = el("input", { id: "d-rating", placeholder: "AX3000", autocomplete: "off" });
  const down = el("input", { id: "d-down", type: "number", min: 1, max: 100000 });
  const up = el("input", { id: "d-up", type: "number", min: 1, max: 100000 });
  const sqm = el("input", { id: "d-sqm", type: "checkbox" });
  const link = el("select", { id: "d-link" }, options([["air", "through the air"], ["cable", "by cable"]], "air"));
  const wrong = el("p", { class: "warning", role: "alert", hidden: true });
  const rooms = el("div", { id: "d-rooms" });
  const devices = el("div", { id: "d-devices" });
  const close = () => dialog.close();
  let numbered = 0;

  const rowsOf = (parent) => [...parent.children].map((row) => ({ row, get: (name) => row.querySelector(`[data-of="${name}"]`) }));
  const removable = (parts) => {
    const row = el("fieldset", { class: "row" }, parts, el("button", { type: "button", "aria-label": "Remove this line", onclick: () => { row.remove(); places(); } }, "×"));
    return row;
  };
  const roomRow = ([name, width, depth], isFirst) => removable([
    labelled("Room", el("input", { "data-of": "name", value: name, size: 10, oninput: places })),
    labelled("Width in m", el("input", { "data-of": "width", type: "number", min: 1, max: 50, step: 0.1, value: width })),
    labelled("Depth in m", el("input", { "data-of": "depth", type: "number", min: 1, max: 50, step: 0.1, value: depth })),
    el("label", { class: "check" }, el("input", { "data-of": "behind", type: "checkbox" }), " begins a row behind"),
    el("label", { class: "check" }, el("input", { "data-of": "unit", type: "checkbox", checked: isFirst }), " has an access point or a mesh unit"),
  ]);
  const deviceRow = ([name, place, use]) => removable([
    labelled("Device", el("input", { "data-of": "name", value: name, size: 10 })),
    labelled("Where", el("select", { "data-of": "place", "data-wanted": place })),
    labelled("It", el("select", { "data-of": "use" }, options(ACTIVITIES, use))),
    labelled("and", el("select", { "data-of": "also" }, options([["", "–"], ...ACTIVITIES], ""))),
  ]);
  // The rooms that a device can be in are those above. A device stays in its room while the name of the room is edited.
  function places() {
    const own = rowsOf(rooms).map(({ row, get }) => ({ id: row.dataset.id ??= `room ${++numbered}`, name: named30(get("name").value) }));
    for (const { get } of rowsOf(devices)) {
      const place = get("place");
      const chosen = place.value || own.find(({ name }) => name === place.dataset.wanted)?.id;
      place.replaceChildren(...options([...own.map(({ id, name }) => [id, name]), ["cable", "a cable to the router"]], chosen));
    }
  }
  const answers = () => {
    const own = rowsOf(rooms).map(({ get }) => ({ name: named30(get("name").value), size: `${get("width").value}x${get("depth").value}`, behind: get("behind").checked, unit: get("unit").checked }));
    const units = own.filter(({ unit }) => unit).map(({ name }) => name);
    const place = (value) => (value === "cable" ? value : named30(rooms.querySelector(`[data-id="${value}"] [data-of="name"]`)?.value ?? ""));
    const used = rowsOf(devices).map(({ get }, index) => `${named30(get("name").value) || `device${index + 1}`} ${place(get("place").value)} ${get("use").value} ${get("also").value}`.trim());
    return [rating.value.trim(), down.value, up.value, sqm.checked ? "y" : "n",
      ...own.flatMap(({ name, size, behind }) => [...(behind ? ["-"] : []), `${name} ${size}`]), "",
      units.join(" "), ...(units.length > 1 ? [link.value] : []),
      ...used, "", ""].join("\n");
  };
  const send = async (event) => {
    event.preventDefault();
    const why = await describe(answers());
    wrong.hidden = !why;
    wrong.textContent = why ?? "";
    if (why) wrong.scrollIntoView();
    else close();
  };
  const dialog = el("dialog", { id: "describe", "aria-labelledby": "d-title" }, el("form", { onsubmit: send },
    el("h2", { id: "d-title" }, "Describe your home"), wrong,
    el("p", { class: "quiet" }, "A guess is enough: you can move and change everything afterwards. Nothing is sent."),
    el("div", { class: "pair" }, labelled("Rating on the box of the router; empty if unknown", rating)),
    el("div", { class: "pair" }, labelled("Internet line down in Mbit/s", down), labelled("Up in Mbit/s", up)),
    el("label", { class: "check" }, sqm, " the router has SQM or another smart queue, switched on"),
    el("h3", {}, "Rooms, from west to east"), rooms,
    el("button", { type: "button", onclick: () => { rooms.append(roomRow([`room${rooms.children.length + 1}`, 4, 4], false)); places(); } }, "Add a room"),
    labelled("Mesh units are connected", link),
    el("h3", {}, "Devices that are used at the same time"), devices,
    el("button", { type: "button", onclick: () => { devices.append(deviceRow([`device${devices.children.length + 1}`, "", "web"])); places(); } }, "Add a device"),
    el("p", { class: "tools" }, el("button", { id: "d-done", type: "submit" }, "Draw and simulate it"), el("button", { type: "button", onclick: close }, "Cancel"))));
  rooms.append(...ROOMS.map((room, index) => roomRow(room, index === 0)));
  devices.append(...DEVICES.map(deviceRow));
  places();
  return dialog;
}
