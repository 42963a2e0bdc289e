import { tick, write } from "./format.js";
import { onTheme } from "./theme.js";

// Replaces the picture of a chart by an interactive chart: zoom, values, and buttons that hide series. `uPlot` is a global
// variable of the page.

const HEIGHT = 300;
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const LEVELS = [0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999];

/** The number of nines of a percentile (0.99 → 2): its position on the axis. */
function nines(share) {
  return -Math.log10(Math.max(1 - share, 1e-9));
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function hue(number) {
  return number === null || number === undefined ? colour("--quiet") : colour(`--h${number % 6}`);
}

function faint(number, alpha) {
  const hex = hue(number);
  return `${hex}${Math.round(alpha * 255).toString(16).padStart(2, "0")}`;
}

/** The powers of ten from `low` to `high`; a short range has more steps for each decade. */
function decades(low, high) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const steps = last - first <= 3 ? [1, 2, 5] : last - first <= 5 ? [1, 3] : [1];
  const found = [];
  for (let power = first; power <= last; power++) {
    for (const step of steps) {
      const value = Number(`${step}e${power}`);
      if (value >= low && value <= high) found.push(value);
    }
  }
  return found;
}

/** True if the value has no neighbours, so that a line would not show it. */
function isolated(values, at) {
  return values[at] !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null;
}

/**
 * Makes a figure interactive.
 * @param {HTMLElement} figure the figure that contains the picture
 * @param {object} chart the chart as written by `report::chart::json`
 */
export function draw(figure, chart) {
  const percentile = chart.x.scale === "percentile";
  const along = percentile ? chart.at.map(nines) : chart.at;
  const ends = chart.x.ends.map((end) => (percentile ? nines(end) : end));
  const log = chart.y.scale === "log";
  const positive = (value) => (log && value !== null && value <= 0 ? null : value);

  const data = [along];
  const series = [{}];
  const bands = [];
  const places = [];
  for (const one of chart.series) {
    const dash = DASHES[Math.floor(one.hue / 6) % DASHES.length];
    const y = one.y.map(positive);
    const hasIsolated = y.some((_, at) => isolated(y, at));
    const place = { own: data.length, all: [data.length], one };
    data.push(y);
    series.push({
      label: one.name,
      stroke: () => hue(one.hue),
      width: one.shape === "points" ? 0 : 2,
      dash,
      spanGaps: percentile,
      paths: one.shape === "steps" ? uPlot.paths.stepped({ align: 1 }) : undefined,
      points: {
        show: one.shape === "points" || hasIsolated,
        size: 5,
        width: 0,
        fill: () => hue(one.hue),
        filter: one.shape === "points" ? undefined : (_, __, show) => {
          if (!show) return null;
          const found = [];
          for (let at = 0; at < y.length; at++) if (isolated(y, at)) found.push(at);
          return found;
        },
      },
    });
    if (one.low) {
      for (const side of [one.low, one.high]) {
        place.all.push(data.length);
        data.push(side.map(positive));
        series.push({ label: "", stroke: null, width: 0, points: { show: false }, spanGaps: false });
      }
      bands.push({ series: [data.length - 1, data.length - 2], fill: () => faint(one.hue, 0.2) });
    }
    places.push(place);
  }

  const plot = document.createElement("div");
  plot.className = "plot";
  plot.tabIndex = 0;
  plot.setAttribute("role", "application");
  plot.setAttribute("aria-label", `${chart.title}: left and right select a value, plus and minus zoom, 0 resets the zoom`);
  const readout = document.createElement("output");
  readout.className = "readout";
  readout.textContent = "Point at the chart to show its values; drag to zoom.";
  const tools = document.createElement("div");
  tools.className = "tools";
  figure.querySelector(".static").before(tools, plot, readout);
  figure.classList.add("live");

  const showValues = (at) => {
    if (at === null || at === undefined) return;
    const parts = [];
    for (const { own, one } of places) {
      if (!u.series[own].show) continue;
      const value = one.y[at];
      const [low, high] = [one.low?.[at] ?? null, one.high?.[at] ?? null];
      if (value === null && low === null) continue;
      let text = value === null ? "" : write(chart.y.unit, value);
      if (low !== null && high > low) text += ` (${write(chart.y.unit, low)} to ${write(chart.y.unit, high)})`;
      parts.push(`${one.name || chart.y.label}: ${text}`);
    }
    const near = chart.marks.filter((mark) => Math.abs(u.valToPos(mark.x, "x") - u.cursor.left) < 6).map((mark) => mark.label);
    const place = percentile ? `${Number((chart.at[at] * 100).toFixed(4))} %` : write(chart.x.unit, chart.at[at]);
    readout.textContent = [`${place} – ${parts.join("; ") || "no values"}`, ...near.slice(0, 3)].join(" · ");
  };

  // Drawn below and above the lines: excluded time, events, goals, and the ranges of isolated points.
  const below = (u) => {
    const { ctx, bbox } = u;
    const at = (x) => u.valToPos(percentile ? nines(x) : x, "x", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const span = (from, to, number) => {
      ctx.fillStyle = faint(number, 0.12);
      ctx.fillRect(at(from), bbox.top, Math.max(at(to) - at(from), 1), bbox.height);
    };
    if (chart.aside) span(chart.aside[0], chart.aside[1], null);
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.lineWidth = devicePixelRatio;
    for (const mark of chart.marks) {
      if (mark.length > 0) span(mark.x, mark.x + mark.length, mark.hue);
      ctx.strokeStyle = hue(mark.hue);
      ctx.beginPath();
      ctx.moveTo(at(mark.x), bbox.top);
      ctx.lineTo(at(mark.x), bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
  const above = (u) => {
    const { ctx, bbox } = u;
    const height = (y) => u.valToPos(y, "y", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const { own, all, one } of places) {
      if (!one.low || !u.series[own].show) continue;
      const [lows, highs] = [data[all[1]], data[all[2]]];
      ctx.strokeStyle = faint(one.hue, 0.4);
      ctx.lineWidth = 2 * devicePixelRatio;
      for (let place = 0; place < along.length; place++) {
        if (lows[place] === null || !(one.shape === "points" || isolated(lows, place))) continue;
        const x = u.valToPos(along[place], "x", true);
        ctx.beginPath();
        ctx.moveTo(x, height(lows[place]));
        ctx.lineTo(x, height(highs[place]));
        ctx.stroke();
      }
    }
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    for (const level of chart.levels) {
      const y = height(level.y);
      ctx.strokeStyle = ctx.fillStyle = hue(level.hue);
      ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.lineWidth = 1.5 * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.strokeStyle = colour("--card");
      ctx.lineWidth = 4 * devicePixelRatio;
      // Above the line, or below it if the line is at the upper edge.
      const offset = y - bbox.top > 16 * devicePixelRatio ? -5 : 14;
      const [right, baseline] = [bbox.left + bbox.width - 4 * devicePixelRatio, y + offset * devicePixelRatio];
      ctx.strokeText(level.label, right, baseline);
      ctx.fillText(level.label, right, baseline);
    }
    ctx.setLineDash([]);
    ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    let last = -Infinity;
    for (const mark of chart.marks) {
      const x = u.valToPos(mark.x, "x", true);
      if (x < last + 12 * devicePixelRatio) continue;
      last = x;
      ctx.fillStyle = hue(mark.hue);
      ctx.fillText(mark.sign, x, bbox.top + 10 * devicePixelRatio);
    }
    ctx.restore();
  };

  const axis = (label, more) => ({
    label,
    labelSize: 22,
    labelFont: "12px system-ui, sans-serif",
    font: "12px system-ui, sans-serif",
    stroke: () => colour("--quiet"),
    grid: { stroke: () => colour("--grid"), width: 1 },
    ticks: { stroke: () => colour("--grid"), width: 1 },
    ...more,
  });
  const width = () => Math.max(plot.clientWidth, 200);
  const u = new uPlot(
    {
      width: width(),
      height: HEIGHT,
      legend: { show: false },
      cursor: {
        sync: percentile ? undefined : { key: "time", scales: ["x", null] },
        drag: { x: true, y: false, setScale: true },
        points: { size: 7 },
      },
      scales: {
        x: { time: false, range: (_, low, high) => (low === null || high === low ? ends : [low, high]) },
        y: { distr: log ? 3 : 1, range: chart.y.ends },
      },
      axes: [
        axis(chart.x.label, percentile
          ? {
              splits: (u) => LEVELS.map(nines).filter((at) => at >= u.scales.x.min - 1e-9 && at <= u.scales.x.max + 1e-9),
              values: (u, at) => {
                // Omit a label that would overlap the previous one.
                let last = -Infinity;
                return at.map((value) => {
                  const place = u.valToPos(value, "x");
                  if (place < last + 48) return "";
                  last = place;
                  return `${Number(((1 - 10 ** -value) * 100).toFixed(5))} %`;
                });
              },
            }
          : { values: (_, at) => at.map((value) => tick(chart.x.unit, value)), incrs: chart.x.unit === "seconds" ? SECONDS : undefined }),
        axis(log ? `${chart.y.label} (log scale)` : chart.y.label, { size: 64, ...(log ? { splits: (_, __, low, high) => decades(low, high), filter: (_, at) => at } : {}), values: (_, at) => at.map((value) => (value === null ? "" : tick(chart.y.unit, value))) }),
      ],
      series,
      bands,
      hooks: {
        drawAxes: [below],
        draw: [above],
        setCursor: [(u) => { if (u.cursor.left >= 0) showValues(u.cursor.idx); }],
      },
    },
    data,
    plot,
  );
  const all = () => u.setScale("x", { min: ends[0], max: ends[1] });
  all();

  // Buttons that hide a series.
  if (places.length > 1) {
    for (const { own, all, one } of places) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      const key = document.createElement("span");
      key.className = `key d${Math.floor(one.hue / 6) % DASHES.length}`;
      key.style.borderTopColor = `var(--h${one.hue % 6})`;
      button.append(key, document.createTextNode(one.name));
      button.addEventListener("click", () => {
        const show = !u.series[own].show;
        all.forEach((place) => u.setSeries(place, { show }));
        button.setAttribute("aria-pressed", String(show));
      });
      tools.append(button);
    }
  }
  const reset = document.createElement("button");
  reset.type = "button";
  reset.textContent = "Reset zoom";
  reset.addEventListener("click", all);
  tools.append(reset);

  // Keyboard control.
  const zoom = (factor) => {
    const { min, max } = u.scales.x;
    const middle = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : (min + max) / 2;
    const [low, high] = [middle - (middle - min) * factor, middle + (max - middle) * factor];
    u.setScale("x", { min: Math.max(low, ends[0]), max: Math.min(high, ends[1]) });
  };
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (step) {
      const from = u.cursor.left >= 0 && u.cursor.idx !== null ? u.cursor.idx + step : 0;
      const at = Math.min(Math.max(from, 0), along.length - 1);
      u.setCursor({ left: u.valToPos(along[at], "x"), top: HEIGHT / 3 });
    } else if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0" || event.key === "Escape") all();
    else return;
    event.preventDefault();
  });

  new ResizeObserver(() => {
    if (plot.clientWidth > 0 && Math.abs(plot.clientWidth - u.width) > 1) u.setSize({ width: width(), height: HEIGHT });
  }).observe(plot);
  onTheme(() => requestAnimationFrame(() => u.redraw(false)));
  return u;
}

const SECONDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
