import { draw } from "./chart.js";
import { themeSwitch } from "./theme.js";

// The script of a report: the colour theme, and interactive charts from the JSON document in the page.

const button = document.getElementById("theme");
if (button) themeSwitch(button);
const charts = new Map(JSON.parse(document.getElementById("charts").textContent).map((chart) => [chart.id, chart]));
for (const figure of document.querySelectorAll("figure[data-chart]")) {
  const chart = charts.get(figure.dataset.chart);
  if (!chart || chart.bars || chart.at.length < 2) continue;
  draw(figure, chart);
}
// Time from the start of loading until all charts were drawn, in ms.
document.documentElement.dataset.drawn = performance.now().toFixed(0);
