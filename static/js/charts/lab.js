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

// -- Replays --------------------------------------------------------------------------------------

const INKS = ["accent", "g3", "warn", "g0"];

/** Every scheme at what it costs and what its labels are worth; ways to make labels side by side. */
export function replay(rows) {
  const ways = [...new Set(rows.map((row) => row.by))];
  const ink = (row) => colour(INKS[ways.indexOf(row.by) % INKS.length]);
  const aside = (row) => 9 * (ways.indexOf(row.by) - (ways.length - 1) / 2);
  const costs = rows.map((row) => row.cost);
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const room = Math.max((most - least) * 0.08, 0.05);
  return {
    ...base(`NDCG@3 against judgments per pair. ${rows.map((row) => `${row.name}: ${fixed(row.ndcg_3, 3)} at ${fixed(row.cost, 2)}`).join("; ")}.`),
    legend: { show: ways.length > 1, top: 0, right: 8, itemWidth: 10, itemHeight: 10, icon: "circle", textStyle: { color: colour("text") }, selectedMode: false, data: ways.map((way) => `labels by ${way}`) },
    grid: { left: 48, right: 30, top: ways.length > 1 ? 44 : 24, bottom: 44 },
    xAxis: axis({ type: "value", min: Number(Math.max(least - room, 0).toFixed(2)), max: Number((most + room).toFixed(2)), name: "judgments per pair", nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: colour("muted"), hideOverlap: true, showMinLabel: false, showMaxLabel: false } }),
    yAxis: axis({ type: "value", ...limits(rows.flatMap((row) => [row.from, row.to, row.ndcg_3]), 0) }),
    tooltip: {
      ...base("").tooltip,
      trigger: "item",
      formatter: ({ dataIndex }) => {
        const row = rows[dataIndex];
        const test = row.p === null ? "" : `\n${row.difference < 0 ? "−" : "+"}${fixed(Math.abs(row.difference), 3)} against ${rows[0].name}, p = ${row.p < 0.001 ? "< 0.001" : fixed(row.p, 3)}`;
        return `${row.name} ${row.stars}\nNDCG@3 ${fixed(row.ndcg_3, 3)} at ${fixed(row.cost, 2)} judgments per pair${test}`;
      },
    },
    series: [
      {
        id: "main",
        type: "scatter",
        data: rows.map((row) => ({ value: [row.cost, row.ndcg_3], symbolOffset: [aside(row), 0], itemStyle: { color: ink(row) } })),
        symbolSize: 11,
        z: 5,
      },
      {
        type: "custom",
        silent: true,
        data: rows.map((row) => [row.cost, row.from ?? row.ndcg_3, row.to ?? row.ndcg_3]),
        renderItem({ dataIndex }, api) {
          const [x, low] = api.coord([api.value(0), api.value(1)]);
          const high = api.coord([api.value(0), api.value(2)])[1];
          const at = x + aside(rows[dataIndex]);
          return { type: "line", shape: { x1: at, y1: low, x2: at, y2: high }, style: { stroke: ink(rows[dataIndex]), lineWidth: 2, opacity: 0.45 } };
        },
      },
      names(rows),
      ...ways.map((way, index) => ({ type: "scatter", name: `labels by ${way}`, data: [], itemStyle: { color: colour(INKS[index % INKS.length]) } })),
    ],
  };
}

/** The name of each scheme once, above its highest bar, pushed up where another name stands. */
function names(rows) {
  const routers = [...new Set(rows.map((row) => row.router))].map((router) => {
    const mine = rows.filter((row) => row.router === router);
    return { router, cost: mine[0].cost, top: Math.max(...mine.map((row) => Math.max(row.to ?? 0, row.ndcg_3))) };
  });
  return {
    type: "custom",
    silent: true,
    tooltip: { show: false },
    z: 10,
    data: [[routers[0].cost, routers[0].top]],
    renderItem(_, api) {
      const placed = [];
      for (const { router, cost, top } of routers) {
        const [x, high] = api.coord([cost, top]);
        const half = 3.4 * router.length;
        let y = high - 12;
        while (placed.some((other) => Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < 14)) y -= 14;
        placed.push({ router, x, y, half });
      }
      return {
        type: "group",
        children: placed.map(({ router, x, y }) => ({ type: "text", style: { text: router, x, y, fill: colour("text"), align: "center", verticalAlign: "middle", fontSize: 12 } })),
      };
    },
  };
}
