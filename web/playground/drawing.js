import { el, svg } from "./dom.js";
import { position, walls } from "./home.js";

// The home as a drawing. Items can be moved with the pointer, and with the arrow keys.

/** Pixels of the drawing for one metre. */
const SCALE = 40;
const STEP = 0.5;

function snapped(value) {
  return Math.round(value / STEP) * STEP;
}

/** Places of items without a position: access points in a row, and each device the farther below the weaker its signal is. */
function schematic(home) {
  const places = new Map();
  const aps = Object.keys(home.scenario.ap ?? {});
  aps.forEach((name, index) => places.set(`ap ${name}`, { x: 3 + index * 7, y: 8 }));
  const beside = new Map();
  for (const station of home.stations) {
    const ap = Math.max(0, aps.indexOf(String(station.radio ?? aps[0]).split(".")[0]));
    const row = beside.get(ap) ?? 0;
    beside.set(ap, row + 1);
    const weak = station.wired ? 1 : Math.min(6, Math.max(1, (-40 - (station.signal_dbm ?? -60)) / 7 + 1));
    places.set(`station ${station.name}`, { x: 1 + ap * 7 + row * 1.8, y: 8 - weak });
  }
  return places;
}

/** The place of each item in metres, and whether it can be moved. */
export function places(home) {
  const fallback = schematic(home);
  const found = new Map();
  // Wired devices have no place: they are drawn in a row beside the first access point, which is where the router usually is.
  const hub = position(Object.values(home.scenario.ap ?? {})[0]?.position);
  let wires = 0;
  for (const kind of ["ap", "station"]) {
    for (const [name, keys] of Object.entries(home.scenario[kind] ?? {})) {
      const key = `${kind} ${name}`;
      const at = position(keys.position);
      const beside = hub && keys.wired ? { x: hub.x + 1.5 * ++wires, y: hub.y + 0.5 } : null;
      const free = beside ?? fallback.get(key) ?? { x: 0, y: 0 };
      found.set(key, at ? { ...at, fixed: false } : { ...free, fixed: true });
    }
  }
  return found;
}

function frame(home, at) {
  const points = [...at.values(), ...walls(home.scenario).flatMap(({ from, to }) => [from, to])];
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const [west, east] = [Math.min(0, ...xs) - 1, Math.max(8, ...xs) + 1];
  const [south, north] = [Math.min(0, ...ys) - 1, Math.max(6, ...ys) + 1];
  return { west, east, south, north };
}

/** Colour of a signal: green where rates are high, red where they are low. */
function shade(dbm) {
  const good = Math.min(1, Math.max(0, (dbm + 85) / 40));
  return [Math.round(220 * (1 - good) + 20 * good), Math.round(60 * (1 - good) + 150 * good), 60];
}

/** The coverage of the lowest floor as the address of a picture; `null` without a building. */
function coverage(building) {
  const floor = building?.floors[0];
  if (!floor) return null;
  const canvas = document.createElement("canvas");
  canvas.width = building.columns;
  canvas.height = building.rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(building.columns, building.rows);
  floor.coverage_dbm.forEach((dbm, index) => {
    const row = building.rows - 1 - Math.floor(index / building.columns);
    const pixel = 4 * (row * building.columns + (index % building.columns));
    image.data.set([...shade(dbm), 90], pixel);
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/** Icons as paths around the centre of an item. */
const SHAPES = {
  waves: "M-8 -2a11 11 0 0 1 16 0M-5 1.5a6.5 6.5 0 0 1 10 0M-1 5.5h2",
  computer: "M-6 -6h12v8h-12zM-9 5h18",
  screen: "M-8 -6h16v10h-16zM-3 7h6",
  phone: "M-4 -8h8v16h-8zM-1 5.5h2",
  camera: "M-9 -5h11v10h-11zM2 -1l6 -4v10l-6 -4",
  pad: "M-5 -4h10a4 4 0 0 1 4 8c-2 0 -3 -2 -4 -2h-10c-1 0 -2 2 -4 2a4 4 0 0 1 4 -8M-5 -2.5v3M-6.5 -1h3",
  up: "M0 4v-11M-5 -2l5 -5l5 5M-6 7h12",
  down: "M0 -7v11M-5 -1l5 5l5 -5M-6 7h12",
};
const ICONS = {
  voice: "phone", voip: "phone", "video-call": "camera", browsing: "computer", "4kstream": "screen", dash: "screen",
  game: "pad", "cloud-gaming": "pad", upload: "up", download: "down",
};

/** The drawing. `act` has functions for what a person does: `select`, `move`, `remove`, `wall`. */
export function drawing(home, { selected, drawsWalls, verdicts, hues }, act) {
  const at = places(home);
  const box = frame(home, at);
  const px = (x) => (x - box.west) * SCALE;
  const py = (y) => (box.north - y) * SCALE;
  const root = svg("svg", {
    viewBox: `0 0 ${px(box.east)} ${py(box.south)}`,
    role: "group",
    "aria-label": "Drawing of the home. Items move with the arrow keys.",
    class: drawsWalls ? "home draws" : "home",
  });
  const picture = coverage(home.building);
  if (picture) {
    const { south_west_m: [west, south], cell_m: cell, columns, rows } = home.building;
    root.append(svg("image", { href: picture, x: px(west), y: py(south + rows * cell), width: columns * cell * SCALE, height: rows * cell * SCALE, preserveAspectRatio: "none" }));
  }
  const line = (from, to, attributes) => svg("line", { x1: px(from.x), y1: py(from.y), x2: px(to.x), y2: py(to.y), ...attributes });
  for (const { from, to } of walls(home.scenario)) root.append(line(from, to, { class: "wall" }));
  for (const station of home.stations) {
    const own = at.get(`station ${station.name}`);
    const ap = at.get(`ap ${String(station.radio).split(".")[0]}`);
    if (ap && own && !station.wired) root.append(line(own, ap, { class: "joined", stroke: `var(--h${hues.get(station.name)})` }));
  }
  const point = (event) => {
    const matrix = root.getScreenCTM().inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return { x: snapped(x / SCALE + box.west), y: snapped(box.north - y / SCALE) };
  };
  for (const [key, place] of at) root.append(item(key, place));
  root.addEventListener("pointerdown", (event) => {
    if (!drawsWalls || event.button !== 0) return;
    const from = point(event);
    const shown = line(from, from, { class: "wall new" });
    root.append(shown);
    root.setPointerCapture(event.pointerId);
    root.onpointermove = (moved) => {
      const to = point(moved);
      shown.setAttribute("x2", px(to.x));
      shown.setAttribute("y2", py(to.y));
    };
    root.onpointercancel = () => {
      root.onpointermove = root.onpointerup = null;
      shown.remove();
    };
    root.onpointerup = (up) => {
      root.onpointermove = root.onpointerup = null;
      shown.remove();
      const to = point(up);
      if (to.x !== from.x || to.y !== from.y) act.wall(from, to);
    };
  });
  return root;

  function item(key, place) {
    const [kind, name] = [key.split(" ", 1)[0], key.slice(key.indexOf(" ") + 1)];
    const station = kind === "station" ? home.stations.find((one) => one.name === name) : null;
    const verdict = station && verdicts.get(name);
    const words = [kind === "ap" ? "access point" : "device", name];
    if (verdict) words.push(verdict);
    if (!place.fixed) words.push(`at ${place.x} m, ${place.y} m`);
    if (station?.signal_dbm) words.push(`${Math.round(station.signal_dbm)} dBm`);
    const hue = station ? `var(--h${hues.get(name)})` : "var(--ink)";
    const icon = station ? ICONS[station.workloads[0]] ?? "computer" : "waves";
    const group = svg("g", {
      tabindex: 0, role: "button", "aria-label": words.join(", "), "aria-pressed": selected === key ? "true" : "false",
      "data-item": key, class: `item ${kind} ${verdict ?? ""}${selected === key ? " selected" : ""}`, transform: `translate(${px(place.x)} ${py(place.y)})`,
    },
    svg("circle", { r: 17, stroke: hue }),
    svg("path", { class: "icon", d: SHAPES[icon] }),
    svg("text", { class: "name", y: 33 }, name));
    group.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[event.key];
      if (steps && !place.fixed) act.move(kind, name, { ...place, x: place.x + steps[0], y: place.y + steps[1] });
      else if (event.key === "Enter" || event.key === " ") act.select(key);
      else if (event.key === "Delete") act.remove(kind, name);
      else return;
      event.preventDefault();
    });
    group.addEventListener("pointerdown", (event) => {
      if (drawsWalls || event.button !== 0) return;
      event.preventDefault();
      group.setPointerCapture(event.pointerId);
      let to = null;
      group.onpointermove = (moved) => {
        if (place.fixed) return;
        to = point(moved);
        group.setAttribute("transform", `translate(${px(to.x)} ${py(to.y)})`);
      };
      group.onpointercancel = () => {
        group.onpointermove = group.onpointerup = null;
        group.setAttribute("transform", `translate(${px(place.x)} ${py(place.y)})`);
      };
      group.onpointerup = () => {
        group.onpointermove = group.onpointerup = null;
        if (to && (to.x !== place.x || to.y !== place.y)) act.move(kind, name, { ...to, floor: place.floor });
        act.select(key);
      };
    });
    return group;
  }
}

/** The colours of the drawing in words. */
export function legend(home) {
  if (!home.building) return el("p", { class: "quiet" }, "This scenario has signals instead of positions, so the drawing shows no distances.");
  return el("p", { class: "quiet" }, `Colours show the strongest signal in the ${home.building.band.replace("g", "").replace("2", "2.4")} GHz band: green is strong (−45 dBm), red is weak (−85 dBm).`);
}
