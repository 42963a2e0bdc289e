import { draw } from "./chart.js";
import { themeSwitch } from "./theme.js";

// A page of one file: the colours' switch, and every chart drawn anew from the document beside them.

const button = document.getElementById("theme");
if (button) themeSwitch(button);
const charts = new Map(JSON.parse(document.getElementById("charts").textContent).map((chart) => [chart.id, chart]));
for (const figure of document.querySelectorAll("figure[data-chart]")) {
  const chart = charts.get(figure.dataset.chart);
  if (!chart || chart.bars || chart.at.length < 2) continue;
  draw(figure, chart);
}
// How long after the page began to load all of it was drawn, in ms.
document.documentElement.dataset.drawn = performance.now().toFixed(0);
