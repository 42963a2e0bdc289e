// A line of the last minute, small.

import { svg } from "./dom.js";

const WIDE = 240;
const HIGH = 44;

/** The newest value is at the right; what isn't known is a gap. A limit is a dashed line. */
export function course(values, { limit = null, label, colour = "h0", seconds = 60 }) {
  const known = values.filter((value) => value !== null);
  const top = Math.max(limit ?? 0, ...known, 1e-9) * 1.08;
  const step = WIDE / (seconds - 1);
  const x = (index) => WIDE - (values.length - 1 - index) * step;
  const y = (value) => HIGH - (value / top) * (HIGH - 2) - 1;
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
  // A point alone is drawn as a dot.
  const drawn = lines.map((points) => svg("polyline", { points: (points.length > 1 ? points : [points[0], points[0]]).join(" "), class: points.length > 1 ? colour : `${colour} point` }));
  const goal = limit === null ? null : svg("line", { x1: 0, x2: WIDE, y1: y(limit).toFixed(1), y2: y(limit).toFixed(1), class: "limit" });
  return svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "course", role: "img", "aria-label": label, preserveAspectRatio: "none" }, goal, drawn);
}
