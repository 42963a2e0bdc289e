import { el, svg } from "./dom.js";

// The air in a short part of a run, slow enough to follow, and the queues of the whole run.

/** Length of the part in ms. */
export const WINDOW_MS = 200;
const SLOWER = 60;
const [LANE, GAP, LEFT] = [34, 8, 90];

function duration(us) {
  return us >= 1000 ? `${Math.round(us / 100) / 10} ms` : `${Math.round(us)} µs`;
}

/** Who used the air, in words and numbers, the longest first. */
export function shares(transmissions, stations) {
  const used = new Map();
  for (const { station, us } of transmissions) used.set(station, (used.get(station) ?? 0) + us);
  const name = (station) => (station === null ? "access points" : stations[station]?.name ?? "?");
  return [...used].sort((a, b) => b[1] - a[1]).map(([station, us]) => ({ name: name(station), share: us / (WINDOW_MS * 1000) }));
}

/** The time line. Its cursor moves `SLOWER` times slower than time. */
export function timeline(transmissions, home, hues, fromMs) {
  const lanes = [...new Set(transmissions.map(({ radio }) => radio))].sort();
  if (lanes.length === 0) return el("p", { class: "quiet" }, `No device transmitted from ${fromMs / 1000} s to ${(fromMs + WINDOW_MS) / 1000} s.`);
  const width = 1000;
  const height = lanes.length * (LANE + GAP) + 18;
  const x = (us) => LEFT + ((us / 1000 - fromMs) / WINDOW_MS) * (width - LEFT);
  const colour = ({ station }) => (station === null ? "var(--quiet)" : `var(--h${hues.get(home.stations[station]?.name) ?? 0})`);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "air", role: "img", "aria-label": "Transmissions on each radio, from left to right" });
  lanes.forEach((radio, lane) => {
    const y = lane * (LANE + GAP);
    root.append(svg("text", { x: 0, y: y + LANE / 2 + 4 }, radio), svg("rect", { x: LEFT, y, width: width - LEFT, height: LANE, class: "lane" }));
  });
  for (const one of transmissions) {
    const y = lanes.indexOf(one.radio) * (LANE + GAP);
    const half = LANE / 2;
    const lost = one.collided || one.arrived < one.mpdus;
    const name = one.station === null ? "access point" : home.stations[one.station]?.name;
    root.append(svg("rect", {
      x: x(one.at_us), y: one.down ? y : y + half, width: Math.max(0.6, x(one.at_us + one.us) - x(one.at_us)), height: half - 1,
      fill: colour(one), class: one.collided ? "sent collided" : lost ? "sent lossy" : "sent",
    }, svg("title", {}, `${one.down ? "to" : "from"} ${name}: ${duration(one.us)}, ${one.mpdus} frames, ${one.arrived} arrived${one.collided ? ", collision" : ""}`)));
  }
  for (let step = 0; step <= 4; step++) {
    const ms = fromMs + (step * WINDOW_MS) / 4;
    root.append(svg("text", { x: x(ms * 1000), y: height - 2, class: "tick", "text-anchor": step === 4 ? "end" : "middle" }, `${ms / 1000} s`));
  }
  const cursor = svg("line", { y1: 0, y2: height - 18, class: "cursor", visibility: "hidden" });
  root.append(cursor);
  const now = el("span", { class: "quiet", "aria-live": "off" });
  const button = el("button", { type: "button" }, "Play slowly");
  let stop = null;
  button.addEventListener("click", () => {
    if (stop) return stop();
    const begun = performance.now();
    let frame = requestAnimationFrame(step);
    button.textContent = "Stop";
    stop = () => {
      cancelAnimationFrame(frame);
      cursor.setAttribute("visibility", "hidden");
      button.textContent = "Play slowly";
      now.textContent = "";
      stop = null;
    };
    function step(at) {
      const ms = (at - begun) / SLOWER;
      if (ms > WINDOW_MS || !root.isConnected) return stop?.();
      const us = (fromMs + ms) * 1000;
      for (const attribute of ["x1", "x2"]) cursor.setAttribute(attribute, x(us));
      cursor.setAttribute("visibility", "visible");
      const sending = transmissions.filter((one) => one.at_us <= us && one.at_us + one.us >= us);
      now.textContent = sending.map((one) => `${one.radio} ${one.down ? "→" : "←"} ${home.stations[one.station]?.name ?? "access point"} (${one.mpdus} frames)`).join(", ") || "the air is free";
      frame = requestAnimationFrame(step);
    }
  });
  const words = shares(transmissions, home.stations).slice(0, 4).map(({ name, share }) => `${name} ${Math.round(share * 100)} %`);
  return el("div", {}, el("p", {}, `Use of the air in these ${WINDOW_MS} ms: ${words.join(", ")}. Upper half: to the device; lower half: from it.`), root, el("p", {}, button, " ", now));
}

/** The packets that wait for each device at its access point, over the run. `choose` gets the time in ms of a click. */
export function queues(view, hues, choose, chosenMs) {
  const [width, height] = [1000, 120];
  const bins = view.bins;
  const most = Math.max(10, ...view.stations.flatMap(({ air }) => air?.bins.map(({ backlog }) => backlog) ?? []));
  const x = (bin) => LEFT + (bin / bins) * (width - LEFT);
  const y = (packets) => height - 18 - (packets / most) * (height - 30);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "queues", role: "img", "aria-label": `Packets that wait, at most ${most}` });
  root.append(svg("text", { x: 0, y: 14 }, `${most} packets`), svg("text", { x: 0, y: height - 18 }, "0"));
  for (const station of view.stations) {
    if (!station.air) continue;
    const points = station.air.bins.map(({ backlog }, bin) => `${x(bin)},${y(backlog)}`).join(" ");
    root.append(svg("polyline", { points, fill: "none", stroke: `var(--h${hues.get(station.name)})`, "stroke-width": 1.5 }, svg("title", {}, station.name)));
  }
  const ms = view.bin_s * 1000;
  root.append(svg("rect", { x: x(chosenMs / ms), y: 0, width: Math.max(3, x((chosenMs + WINDOW_MS) / ms) - x(chosenMs / ms)), height: height - 18, class: "chosen" }));
  for (let step = 0; step <= 4; step++) root.append(svg("text", { x: x((bins * step) / 4), y: height - 2, class: "tick", "text-anchor": step === 4 ? "end" : "middle" }, `${Math.round((bins * step * view.bin_s) / 4)} s`));
  root.addEventListener("click", (event) => {
    const box = root.getBoundingClientRect();
    const bin = (((event.clientX - box.left) / box.width) * width - LEFT) / (width - LEFT) * bins;
    choose(Math.max(0, Math.min((bins * ms) - WINDOW_MS, Math.round((bin * ms) / WINDOW_MS) * WINDOW_MS)));
  });
  return root;
}
