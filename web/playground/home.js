// Edits of a scenario, as pure functions: each returns a new scenario. The engine validates the results.

/** A home to begin with: three rooms, a backup that fills the uplink, and a video call that suffers from it. */
export const FIRST = `title = "My home"
duration = "20 s"

[building]
walls = [
  "0 m, 0 m to 12 m, 0 m", "12 m, 0 m to 12 m, 8 m", "12 m, 8 m to 0 m, 8 m", "0 m, 8 m to 0 m, 0 m",
  "5 m, 0 m to 5 m, 5 m", "5 m, 5 m to 12 m, 5 m",
]

[server.link]
delay = "10 ms"

[router.wan]
down  = "50 Mbit/s"
up    = "6 Mbit/s"
delay = "5 ms"

[network.home]
radios = ["hall.5g"]

[ap.hall]
position = "3 m, 6 m"
queue    = "fifo"
[ap.hall.radio.5g]

[station.laptop]
joins    = "home"
position = "9 m, 2 m"
workload = ["video-call"]

[station.tv]
joins    = "home"
position = "2 m, 2 m"
workload = ["4kstream"]

[station.backup]
wired    = "router"
workload = ["upload"]
`;

/** What a device can do, in words. */
export const USES = [
  ["voice", "a phone call"], ["video-call", "a video call"], ["browsing", "web pages"], ["4kstream", "a film in 4K"],
  ["game", "an online game"], ["cloud-gaming", "cloud gaming"], ["download", "a download"], ["upload", "an upload, such as a backup"],
  ["voip", "a call over HTTP"], ["dash", "a film that adapts"], ["probe", "pings"],
];

/** Queues of access points, in words. */
export const QUEUES = [
  ["fifo", "one queue for all (many vendors)"], ["pfifo-fast", "three queues by priority"], ["fq-codel", "fair by connection (FQ-CoDel)"],
  ["fq-mac", "fair by device (mac80211)"], ["airtime", "fair by device and by airtime (OpenWrt)"],
];

const POSITION = /^\s*(-?[\d.]+)\s*m\s*,\s*(-?[\d.]+)\s*m\s*(?:,\s*floor\s*(-?\d+)\s*)?$/;
const WALL = /^(.*?)\s+to\s+(.*)$/;

/** `"2 m, 5.5 m"` as coordinates; `null` for any other text. */
export function position(text) {
  const found = POSITION.exec(text ?? "");
  return found && { x: Number(found[1]), y: Number(found[2]), floor: Number(found[3] ?? 0) };
}

function metres(value) {
  return `${Math.round(value * 10) / 10} m`;
}

export function positionText({ x, y, floor = 0 }) {
  return `${metres(x)}, ${metres(y)}${floor ? `, floor ${floor}` : ""}`;
}

/** The walls of a scenario as pairs of positions, with their index. A wall that the page cannot read is left out. */
export function walls(scenario) {
  const listed = scenario.building?.walls ?? [];
  return listed.flatMap((text, index) => {
    const [, from, to] = WALL.exec(text) ?? [];
    const ends = [position(from), position(to)];
    return ends[0] && ends[1] ? [{ index, from: ends[0], to: ends[1] }] : [];
  });
}

/** A copy of `scenario` in which the key at `path` has `value`. `undefined` removes the key. */
export function set(scenario, path, value) {
  const [first, ...rest] = path;
  const copy = Array.isArray(scenario) ? [...scenario] : { ...scenario };
  if (rest.length > 0) copy[first] = set(copy[first] ?? {}, rest, value);
  else if (value === undefined) delete copy[first];
  else copy[first] = value;
  return copy;
}

export function get(scenario, path) {
  return path.reduce((at, key) => at?.[key], scenario);
}

export function list(value) {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

/** The first of `word`, `word-2`, … that no section of this kind has. */
export function freeName(scenario, kind, word) {
  const used = Object.keys(scenario[kind] ?? {});
  for (let number = 1; ; number++) {
    const name = number === 1 ? word : `${word}-${number}`;
    if (!used.includes(name)) return name;
  }
}

/** The network or radio that a new device joins. */
function network(scenario) {
  const networks = Object.keys(scenario.network ?? {});
  if (networks.length > 0) return networks[0];
  const [ap] = Object.keys(scenario.ap ?? {});
  return ap && `${ap}.${Object.keys(scenario.ap[ap].radio ?? { "5g": {} })[0]}`;
}

/** Adds a device with one use, and returns the scenario and the name. */
export function addDevice(scenario, use, at) {
  const words = { "4kstream": "tv", dash: "tv", game: "console", "cloud-gaming": "console", upload: "backup", voice: "phone", voip: "phone" };
  const name = freeName(scenario, "station", words[use] ?? "laptop");
  const device = { joins: network(scenario), position: positionText(at), workload: [use] };
  return { scenario: set(scenario, ["station", name], device), name };
}

/** Adds an access point, cabled to the router, and returns the scenario and the name. */
export function addAp(scenario, at) {
  const name = freeName(scenario, "ap", "room");
  const model = Object.values(scenario.ap ?? {})[0];
  const ap = { position: positionText(at), queue: model?.queue ?? "fifo", radio: model?.radio ?? { "5g": {} } };
  let next = set(scenario, ["ap", name], ap);
  const [net] = Object.keys(next.network ?? {});
  if (net) {
    const own = Object.keys(ap.radio).map((radio) => `${name}.${radio}`);
    next = set(next, ["network", net, "radios"], [...list(next.network[net].radios), ...own]);
  }
  return { scenario: next, name };
}

/** Removes a device, or an access point with its radios and what is wired to it. */
export function remove(scenario, kind, name) {
  let next = set(scenario, [kind, name], undefined);
  if (kind !== "ap") return next;
  for (const [net, { radios }] of Object.entries(next.network ?? {})) {
    next = set(next, ["network", net, "radios"], list(radios).filter((radio) => radio.split(".")[0] !== name));
  }
  return next;
}

/** Connects an access point by a cable (`null`), or through the air to another one. */
export function connect(scenario, name, parent) {
  if (parent === null) return set(scenario, ["ap", name, "backhaul"], undefined);
  const radio = Object.keys(scenario.ap[parent]?.radio ?? {}).find((one) => one !== "2g") ?? "2g";
  return set(scenario, ["ap", name, "backhaul"], `${parent}.${radio}`);
}

/** Gives a device a cable to the router, or the Wi-Fi of the home at a place. Only devices on the Wi-Fi have places. */
export function wire(scenario, name, wired, at = { x: 1, y: 1 }) {
  const { joins, wired: _, position: place, signal, ...rest } = scenario.station[name];
  const port = scenario.router ? "router" : Object.keys(scenario.ap ?? {}).find((ap) => scenario.ap[ap].wan);
  const air = scenario.building ? { position: place ?? positionText(at) } : { signal: signal ?? "-55 dBm" };
  const connection = wired ? { wired: port ?? "router" } : { joins: joins ?? network(scenario), ...air };
  return set(scenario, ["station", name], { ...connection, ...rest });
}

/** Keys of the line: that of the router, or that of the first access point with one; `null` if there is none. */
export function line(scenario) {
  if (scenario.router?.wan) return ["router", "wan"];
  const ap = Object.keys(scenario.ap ?? {}).find((name) => scenario.ap[name].wan);
  return ap ? ["ap", ap, "wan"] : null;
}

/** Switches SQM on the line on, which is CAKE at 90 % of its rate, or off. */
export function sqm(scenario, on) {
  const path = line(scenario);
  if (!path) return scenario;
  const keys = Object.entries(get(scenario, path)).filter(([key]) => !/^(discipline|shaper|cake)/.test(key));
  const wan = Object.fromEntries(keys);
  return set(scenario, path, on ? { ...wan, discipline: "cake", shaper: "90 %" } : wan);
}

/** A scenario with the changes of a remedy: keys as for `--set`, and values. */
export function applied(scenario, changes) {
  return Object.entries(changes).reduce((next, [key, value]) => set(next, keyPath(key), parsed(value)), scenario);
}

/** The parts of a key as `station."my tv".signal`. */
export function keyPath(key) {
  return [...key.matchAll(/"((?:[^"\\]|\\.)*)"|[^.]+/g)].map(([part, quoted]) => quoted ?? part);
}

function parsed(value) {
  if (value === "true" || value === "false") return value === "true";
  if (/^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (/^\[.*\]$/s.test(value)) return [...value.matchAll(/"([^"]*)"/g)].map(([, text]) => text);
  return value;
}
