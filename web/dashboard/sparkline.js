// A small line chart of the last minute.

import { svg } from "./dom.js";

const WIDTH = 240;
const HEIGHT = 44;

/** The newest value is at the right. Unknown values are gaps. The limit is a dashed line. */
export function sparkline(values, { limit = null, label, colour = "h0", seconds = 60 }) {
  const known = values.filter((value) => value !== null);
  const top = Math.max(limit ?? 0, ...known, 1e-9) * 1.08;
  const step = WIDTH / (seconds - 1);
  const x = (index) => WIDTH - (values.length - 1 - index) * step;
  const y = (value) => HEIGHT - (value / top) * (HEIGHT - 2) - 1;
  const lines = [];
  let line = [];
  values.forEach((value, index) => {
    if (value === null) {
      if (line.length) lines.push(line);
      line = [];
    } else {
      line.push(`${x(index).toFixed(1)},${y(value).toFixed(1)}`);
    }
  });
  if (line.length) lines.push(line);
  // A single point is drawn as a dot.
  const drawn = lines.map((points) => svg("polyline", { points: (points.length > 1 ? points : [points[0], points[0]]).join(" "), class: points.length > 1 ? colour : `${colour} point` }));
  const goal = limit === null ? null : svg("line", { x1: 0, x2: WIDTH, y1: y(limit).toFixed(1), y2: y(limit).toFixed(1), class: "limit" });
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "sparkline", role: "img", "aria-label": label, preserveAspectRatio: "none" }, goal, drawn);
}
