// The charts of the overview.
import { axis, band, base, colour, ends, fixed, limits, number, percent, tip, whisker } from "./parts.js";

export function ranker(runs) {
  const name = (run) => `run ${run.run}`;
  const last = runs.at(-1);
  const many = runs.length > 1;
  const flat = (key) => runs.map((run) => [name(run), run[key]]);
  return {
    ...base(`NDCG at 3 of ${runs.length} training runs. The latest has ${fixed(last.mean, 3)}, the first stage ${fixed(last.first_stage, 3)}, the ceiling ${fixed(last.ceiling, 3)}, over ${last.n} queries.`),
    grid: { left: 44, right: 118, top: 14, bottom: 28 },
    xAxis: axis({ type: "category", data: runs.map(name), splitLine: { show: false }, boundaryGap: true }),
    yAxis: axis({ type: "value", scale: true, ...limits(runs.flatMap((run) => [run.low, run.high, run.mean, run.first_stage, run.ceiling]), 0) }),
    tooltip: tip((index) => {
      const run = runs[index];
      const ceiling = run.ceiling === null ? "" : `\nCeiling ${fixed(run.ceiling, 3)}`;
      const champion = run.champion ? ", the champion" : "";
      return `Run ${run.run}${champion}, after ${number.format(run.judgments)} judgments\nNDCG@3 ${fixed(run.mean, 3)} (95 % ${fixed(run.low, 3)}–${fixed(run.high, 3)})\nFirst stage ${fixed(run.first_stage, 3)}${ceiling}\nn = ${run.n} queries`;
    }),
    series: [
      ...(many ? band(runs, name) : [whisker(runs, name)]),
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
        symbolSize: 9,
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
}

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

export function grades(rows) {
  const words = rows.map((row) => `${row.count} ${row.name}`).join(", ");
  return {
    ...base(`Judgments per grade: ${words}.`),
    grid: { left: 68, right: 96, top: 4, bottom: 4 },
    xAxis: axis({ type: "value", show: false }),
    yAxis: axis({ type: "category", inverse: true, data: rows.map((row) => row.name), axisLabel: { color: colour("text"), fontSize: 13 } }),
    tooltip: { show: false },
    series: [
      {
        id: "main",
        type: "bar",
        data: rows.map((row) => ({ value: row.count, itemStyle: { color: colour(`g${row.grade}`), borderRadius: [0, 4, 4, 0] } })),
        barMaxWidth: 26,
        label: { show: true, position: "right", color: colour("text"), formatter: ({ dataIndex }) => `${number.format(rows[dataIndex].count)}  (${percent(rows[dataIndex].share)})` },
      },
    ],
  };
}

export function agreement(shots) {
  const x = (shot) => shot.judgments;
  const last = shots.at(-1);
  return {
    ...base(`Krippendorff's alpha over ${shots.length} moments. Now ${fixed(last.alpha, 2)}, 95 % interval ${fixed(last.low, 2)} to ${fixed(last.high, 2)}.`),
    grid: { left: 44, right: 62, top: 14, bottom: 44 },
    xAxis: axis({ type: "value", min: "dataMin", max: "dataMax", name: "judgments", nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: colour("muted"), hideOverlap: true, formatter: (value) => number.format(value) } }),
    yAxis: axis({ type: "value", ...limits(shots.flatMap((shot) => [shot.low, shot.high, shot.alpha]), -1) }),
    tooltip: tip((index) => {
      const shot = shots[index];
      return `After ${number.format(shot.judgments)} judgments\nα ${fixed(shot.alpha, 2)} (95 % ${fixed(shot.low, 2)}–${fixed(shot.high, 2)})\nn = ${number.format(shot.overlapping)} pairs with overlap`;
    }),
    series: [
      ...(shots.length > 1 ? band(shots, x) : [whisker(shots, x)]),
      {
        id: "main",
        type: "line",
        name: "α",
        data: shots.map((shot) => [x(shot), shot.alpha]),
        symbol: "circle",
        showSymbol: shots.length <= 30,
        symbolSize: 6,
        lineStyle: { color: colour("accent"), width: 2.5 },
        itemStyle: { color: colour("surface"), borderColor: colour("accent"), borderWidth: 2 },
        z: 5,
      },
      ends(x(last), [{ value: last.alpha, text: `α ${fixed(last.alpha, 2)}`, ink: "text", bold: true }]),
    ],
  };
}
