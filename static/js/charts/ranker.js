// The charts of rankers: every run at one depth, what is left, what the model looks at.
import { axis, band, base, colour, ends, fixed, limits, narrow, number, percent, short, tip, whisker } from "./parts.js";

/** NDCG at one depth, run by run; the champion is filled. */
export const byRun = (depth) => (runs) => {
  const name = (run) => `run ${run.run}`;
  const last = runs.at(-1);
  const many = runs.length > 1;
  const flat = (key) => runs.map((run) => [name(run), run[key]]);
  return {
    ...base(`NDCG at ${depth} of ${runs.length} training runs. The latest has ${fixed(last.mean, 3)}, the first stage ${fixed(last.first_stage, 3)}, the ceiling ${fixed(last.ceiling, 3)}, over ${last.n} queries.`),
    grid: { left: 38, right: 112, top: 14, bottom: 28 },
    xAxis: axis({ type: "category", data: runs.map(name), splitLine: { show: false }, boundaryGap: true }),
    yAxis: axis({ type: "value", scale: true, ...limits(runs.flatMap((run) => [run.low, run.high, run.mean, run.first_stage, run.ceiling, run.ceiling_low, run.ceiling_high]), 0) }),
    tooltip: tip((index) => {
      const run = runs[index];
      const ceiling = run.ceiling === null ? "" : `\nCeiling ${fixed(run.ceiling, 3)} (95 % ${fixed(run.ceiling_low, 3)}–${fixed(run.ceiling_high, 3)})`;
      const champion = run.champion ? ", the champion" : "";
      return `Run ${run.run}${champion}, after ${number.format(run.judgments)} judgments\nNDCG@${depth} ${fixed(run.mean, 3)} (95 % ${fixed(run.low, 3)}–${fixed(run.high, 3)})\nFirst stage ${fixed(run.first_stage, 3)}${ceiling}\nn = ${run.n} queries`;
    }),
    series: [
      ...(many ? [...band(runs, name, { low: "ceiling_low", high: "ceiling_high", ink: "good" }), ...band(runs, name)] : [whisker(runs, name)]),
      line("ceiling", flat("ceiling"), { color: colour("good"), width: 1.5 }, many),
      line("first stage", flat("first_stage"), { color: colour("muted"), type: "dashed", width: 1.5 }, many),
      {
        id: "main",
        type: "line",
        name: "ranker",
        data: runs.map((run) => ({
          value: [name(run), run.mean],
          itemStyle: { color: colour(run.champion ? "accent" : "surface"), borderColor: colour("accent"), borderWidth: 2 },
        })),
        symbol: "circle",
        symbolSize: runs.length > 20 ? 6 : 9,
        showAllSymbol: true,
        lineStyle: { color: colour("accent"), width: 2.5 },
        z: 5,
      },
      ends(name(last), [
        { value: last.ceiling, text: `ceiling ${fixed(last.ceiling, 3)}`, ink: "good" },
        { value: last.mean, text: `ranker ${fixed(last.mean, 3)}`, ink: "text", bold: true },
        { value: last.first_stage, text: `first stage ${fixed(last.first_stage, 3)}`, ink: "muted" },
      ]),
    ],
  };
};

/** A level to compare with. Where there is one run only, it is a stroke and not a line. */
function line(name, data, lineStyle, many) {
  return {
    type: "line",
    name,
    data,
    symbol: many ? "none" : "rect",
    symbolSize: [44, 1.5],
    silent: true,
    lineStyle,
    itemStyle: { color: lineStyle.color },
  };
}

/** From nothing to a perfect list: what the ranker has, what it can still get, what labels can give. */
export function left(rows) {
  const part = (id, name, key, fill, ink) => ({
    id,
    type: "bar",
    name,
    stack: "whole",
    barMaxWidth: 26,
    data: rows.map((row) => row[key]),
    itemStyle: { color: fill, borderColor: colour("surface"), borderWidth: 1 },
    label: { show: true, color: ink, formatter: ({ value }) => (value >= 0.08 ? fixed(value, 2) : "") },
  });
  return {
    ...base(`What is left. ${rows.map((row) => `${row.measure}: ranker ${fixed(row.ranker, 2)}, left for the ranker ${fixed(row.ranker_left, 2)}, left for better labels ${fixed(row.labels_left, 2)}`).join("; ")}.`),
    legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 10, itemGap: 14, textStyle: { color: colour("text") }, selectedMode: false },
    grid: { left: 66, right: 8, top: narrow() ? 52 : 30, bottom: 22 },
    xAxis: axis({ type: "value", min: 0, max: 1, interval: 0.25 }),
    yAxis: axis({ type: "category", inverse: true, data: rows.map((row) => row.measure), splitLine: { show: false }, axisLabel: { color: colour("text") } }),
    tooltip: {
      ...base("").tooltip,
      trigger: "axis",
      axisPointer: { type: "shadow", shadowStyle: { color: colour("sunken"), opacity: 0.5 } },
      formatter: ([{ dataIndex }]) => {
        const row = rows[dataIndex];
        return `${row.measure}, n = ${number.format(row.n)} queries\nRanker ${fixed(row.ranker, 3)}, first stage ${fixed(row.first_stage, 3)}\nLeft for the ranker ${fixed(row.ranker_left, 3)}, up to the ceiling ${fixed(row.ceiling, 3)}\nLeft for better labels ${fixed(row.labels_left, 3)}`;
      },
    },
    series: [
      part("main", "ranker", "ranker", colour("accent"), colour("on-accent")),
      part("ranker_left", "a better ranker", "ranker_left", colour("g2"), "#10151d"),
      part("labels_left", "better labels", "labels_left", colour("track"), colour("text")),
    ],
  };
}

export function importance(rows) {
  return {
    ...base(`The ${rows.length} features that matter most: ${rows.map((row) => `${row.feature} ${percent(row.share)}`).join(", ")}.`),
    grid: { left: 148, right: 52, top: 4, bottom: 4 },
    xAxis: axis({ type: "value", show: false }),
    yAxis: axis({ type: "category", inverse: true, data: rows.map((row) => short(row.feature, 22)), axisLabel: { color: colour("text"), interval: 0 } }),
    tooltip: { ...base("").tooltip, trigger: "item", formatter: ({ dataIndex }) => `${rows[dataIndex].feature}: ${percent(rows[dataIndex].share)} of the first` },
    series: [
      {
        id: "main",
        type: "bar",
        barMaxWidth: 16,
        data: rows.map((row) => row.share),
        itemStyle: { color: colour("accent"), borderRadius: [0, 4, 4, 0] },
        label: { show: true, position: "right", color: colour("muted"), formatter: ({ value }) => percent(value) },
      },
    ],
  };
}
