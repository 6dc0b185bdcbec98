// The charts of the planner and of the Lab: what is spent against what comes of it.
import { axis, base, colour, ends, fixed, limits, number, tip } from "./parts.js";

const LINES = [
  ["single", "muted", "dotted"],
  ["if-good-2", "warn", "dashed"],
  ["if-good-3", "g3", "solid"],
  ["3-overlap", "g0", "dashed"],
];

/** Thousands are written short on the axis: 12.5k. */
const brief = (value) => (value >= 1e6 ? `${value / 1e6}M` : value >= 1e4 ? `${value / 1e3}k` : number.format(value));

export function frontier(rows) {
  const last = rows.at(-1);
  const chosen = rows.find((row) => row.chosen);
  const place = (row) => `${row.scheme}, ${number.format(row.queries)} queries × ${row.depth}`;
  return {
    ...base(`Expected NDCG by budget, from ${number.format(rows[0].budget)} to ${number.format(last.budget)} judgments. ${chosen ? `At ${number.format(chosen.budget)}: ${fixed(chosen.worth, 3)} by ${place(chosen)}.` : ""}`),
    grid: { left: 44, right: 112, top: 22, bottom: 44 },
    xAxis: axis({ type: "value", min: 0, max: last.budget, name: "budget, judgments", nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: colour("muted"), hideOverlap: true, formatter: brief } }),
    yAxis: axis({ type: "value", ...limits(rows.flatMap((row) => [row.worth, ...LINES.map(([name]) => row[name])]), -1) }),
    tooltip: tip((index) => {
      const row = rows[index];
      const others = LINES.map(([name]) => `${name} ${fixed(row[name], 3)}`).join(", ");
      return `${number.format(row.budget)} judgments: ${fixed(row.worth, 3)}\n${place(row)}\n${others}`;
    }),
    series: [
      {
        id: "main",
        type: "line",
        data: rows.map((row) => [row.budget, row.worth]),
        symbol: "circle",
        symbolSize: (_, { dataIndex }) => (rows[dataIndex].chosen ? 12 : 5),
        lineStyle: { color: colour("accent"), width: 3 },
        itemStyle: { color: colour("accent"), borderColor: colour("surface"), borderWidth: 1 },
        z: 5,
        markLine: chosen && {
          silent: true,
          symbol: "none",
          data: [{ xAxis: chosen.budget }],
          lineStyle: { color: colour("line-strong"), type: "dashed" },
          label: { formatter: "your budget", color: colour("muted") },
        },
      },
      ...LINES.map(([name, ink, type]) => ({ type: "line", name, silent: true, data: rows.map((row) => [row.budget, row[name]]), symbol: "none", lineStyle: { color: colour(ink), width: 1.5, type } })),
      ends(last.budget, [{ value: last.worth, text: `best plan ${fixed(last.worth, 2)}`, ink: "accent", bold: true }, ...LINES.map(([name, ink]) => ({ value: last[name], text: `${name} ${fixed(last[name], 2)}`, ink }))]),
    ],
  };
}
