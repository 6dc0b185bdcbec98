// Draws the charts of the dashboard and draws them anew when figures, size or colours change.
import { CHARTS } from "./charts.js";
import "./live.js";

const drawn = new Map();
let figures = JSON.parse(document.getElementById("charts-data").textContent);
let before = {};

function instance(place) {
  if (!drawn.has(place)) {
    const chart = window.echarts.init(place, null, { renderer: "svg" });
    drawn.set(place, chart);
    new ResizeObserver(() => chart.resize()).observe(place);
  }
  return drawn.get(place);
}

function draw(force) {
  for (const place of document.querySelectorAll("[data-chart]")) {
    const name = place.dataset.chart;
    const data = JSON.stringify(figures[name]);
    if (!force && before[name] === data) continue;
    before[name] = data;
    const filled = CHARTS[name].filled(figures[name]);
    place.hidden = !filled;
    document.querySelector(`[data-empty="${name}"]`).hidden = filled;
    if (filled) instance(place).setOption(CHARTS[name].option(figures[name]), { notMerge: true });
  }
}

document.addEventListener("live", (event) => {
  figures = event.detail.charts;
  draw(false);
});
document.addEventListener("themechange", () => draw(true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(true));
draw(true);
