// Draws the charts of a page and draws them anew when figures, size or colours change. Every chart
// can be walked through with the arrow keys; what a point says is spoken too.
import { CHARTS } from "./charts.js";
import "./live.js";

const drawn = new Map();
const before = {};
const reached = new Map();
let figures = JSON.parse(document.getElementById("charts-data").textContent);

function instance(place) {
  if (!drawn.has(place)) {
    const chart = window.echarts.init(place, null, { renderer: "svg" });
    drawn.set(place, chart);
    new ResizeObserver(() => chart.resize()).observe(place);
  }
  return drawn.get(place);
}

function draw(force) {
  for (const part of document.querySelectorAll("[data-with]")) part.hidden = !figures[part.dataset.with].rows.length;
  for (const place of document.querySelectorAll("[data-chart]")) {
    const name = place.dataset.chart;
    const { rows } = figures[name];
    const data = JSON.stringify(rows);
    if (!force && before[name] === data) continue;
    before[name] = data;
    place.hidden = !rows.length;
    document.querySelector(`[data-empty="${name}"]`).hidden = rows.length > 0;
    if (!rows.length) continue;
    const { option, height } = CHARTS[name];
    if (height) place.style.height = `${height(rows)}px`;
    instance(place).resize();
    instance(place).setOption(option(rows), { notMerge: true });
  }
}

// -- Keys -----------------------------------------------------------------------------------------

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

function written(value, kind) {
  if (value === null || value === undefined) return "none";
  if (kind === "percent") return `${Math.round(100 * value)} %`;
  return typeof value === "number" && !Number.isInteger(value) ? value.toFixed(2) : String(value);
}

function spoken({ columns, rows }, index) {
  const cells = columns.map(({ key, title, kind }) => {
    const values = key.split(":").map((part) => written(rows[index][part], kind));
    return `${title} ${values.join(" to ")}`.trim();
  });
  return `${index + 1} of ${rows.length}. ${cells.join(", ")}.`;
}

function show(place, index) {
  const name = place.dataset.chart;
  const chart = instance(place);
  reached.set(name, index);
  const seriesIndex = chart.getOption().series.findIndex((series) => series.id === "main");
  chart.dispatchAction({ type: "downplay" });
  chart.dispatchAction({ type: "highlight", seriesIndex, dataIndex: index });
  chart.dispatchAction({ type: "showTip", seriesIndex, dataIndex: index });
  document.querySelector(`[data-said="${name}"]`).textContent = spoken(figures[name], index);
}

function hide(place) {
  reached.delete(place.dataset.chart);
  instance(place).dispatchAction({ type: "hideTip" });
  instance(place).dispatchAction({ type: "downplay" });
}

document.addEventListener("keydown", (event) => {
  const place = event.target.closest?.("[data-chart]");
  if (!place || event.ctrlKey || event.metaKey || event.altKey) return;
  const last = figures[place.dataset.chart].rows.length - 1;
  const now = reached.get(place.dataset.chart);
  if (event.key in STEPS) {
    const step = STEPS[event.key];
    show(place, now === undefined ? (step > 0 ? 0 : last) : Math.min(Math.max(now + step, 0), last));
  } else if (event.key === "Home") show(place, 0);
  else if (event.key === "End") show(place, last);
  else if (event.key === "Escape") hide(place);
  else return;
  event.preventDefault();
});
document.addEventListener("focusout", (event) => {
  const place = event.target.closest?.("[data-chart]");
  if (place) hide(place);
});

// -- What changes ---------------------------------------------------------------------------------

document.addEventListener("live", (event) => {
  figures = event.detail.charts;
  draw(false);
});
document.addEventListener("themechange", () => draw(true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(true));
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details.data")) details.open = true;
});
draw(true);
