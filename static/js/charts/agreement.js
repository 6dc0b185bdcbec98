// The charts of the page on agreement. The heat map of judges stands on the overview too.
import { axis, band, base, cell, colour, ends, fixed, heat, limits, narrow, number, percent, short, tip } from "./parts.js";

const GRADES = ["Perfect", "Excellent", "Good", "Fair", "Bad"];
const abbreviated = (word) => (narrow() && word.length > 4 ? `${word.slice(0, word === "Perfect" ? 4 : 3)}.` : word);

export function coefficients(rows) {
  const low = Math.min(0, ...rows.map((row) => row.low ?? row.value ?? 0));
  return {
    ...base(`Agreement by ${rows.length} measures. ${rows.map((row) => `${row.coefficient} ${fixed(row.value, 2)}`).join(", ")}.`),
    grid: { left: narrow() ? 104 : 178, right: 46, top: 6, bottom: 28 },
    xAxis: axis({ type: "value", min: Math.floor(low * 5) / 5, max: 1, interval: narrow() ? 0.4 : 0.2 }),
    yAxis: axis({ type: "category", inverse: true, data: rows.map((row) => row.coefficient), axisLabel: { color: colour("text"), width: narrow() ? 98 : 168, overflow: "break", fontSize: narrow() ? 11 : 12 } }),
    tooltip: { ...base("").tooltip, trigger: "item", formatter: ({ dataIndex }) => explained(rows[dataIndex]) },
    series: [
      {
        id: "main",
        type: "custom",
        data: rows.map((row, index) => [row.value ?? NaN, index, row.low ?? NaN, row.high ?? NaN]),
        renderItem: (_, api) => point(api, rows[api.value(1)].value),
      },
    ],
  };
}

function explained(row) {
  const reason = row.value === null ? `\n${row.reason}` : "";
  return `${row.coefficient} ${fixed(row.value, 3)} (95 % ${fixed(row.low, 2)}–${fixed(row.high, 2)})${reason}\n${row.meaning}\nn = ${number.format(row.pairs)} pairs`;
}

/** A value on its row with its interval as a stroke. */
function point(api, value) {
  if (value === null) return null;
  const [x, y] = api.coord([api.value(0), api.value(1)]);
  const [left] = api.coord([api.value(2), api.value(1)]);
  const [right] = api.coord([api.value(3), api.value(1)]);
  const stroke = { type: "line", shape: { x1: left, y1: y, x2: right, y2: y }, style: { stroke: colour("accent"), lineWidth: 6, opacity: 0.28, lineCap: "round" } };
  return {
    type: "group",
    children: [
      ...(Number.isNaN(left) ? [] : [stroke]),
      { type: "circle", shape: { cx: x, cy: y, r: 5 }, style: { fill: colour("accent") } },
      { type: "text", style: { text: fixed(value, 2), x: Math.max(x, Number.isNaN(right) ? x : right) + 10, y, fill: colour("text"), verticalAlign: "middle", fontSize: 12, fontWeight: 650 } },
    ],
  };
}

export function overTime(rows) {
  const x = (row) => row.to;
  const last = rows.at(-1);
  const lines = [
    ["percent", "same grade", "muted", "dotted"],
    ["ac2", "AC2", "g3", "solid"],
    ["weighted_kappa", "kappa w.", "warn", "dashed"],
  ];
  return {
    ...base(`Agreement in ${rows.length} stretches of time. In the latest alpha is ${fixed(last.alpha, 2)}.`),
    grid: { left: 44, right: 108, top: 14, bottom: 28 },
    xAxis: axis({ type: "category", data: rows.map(x), splitLine: { show: false }, axisLabel: { color: colour("muted"), hideOverlap: true, formatter: day } }),
    yAxis: axis({ type: "value", ...limits(rows.flatMap((row) => [row.low, row.high, row.alpha, row.ac2, row.weighted_kappa, row.percent]), -1) }),
    tooltip: tip((index) => {
      const row = rows[index];
      return `Until ${day(row.to)}, n = ${number.format(row.pairs)} pairs\nα ${fixed(row.alpha, 2)} (95 % ${fixed(row.low, 2)}–${fixed(row.high, 2)})\nAC2 ${fixed(row.ac2, 2)}, weighted kappa ${fixed(row.weighted_kappa, 2)}\nSame grade ${percent(row.percent)}`;
    }),
    series: [
      ...band(rows, x),
      ...lines.map(([key, name, ink, type]) => ({ type: "line", name, silent: true, data: rows.map((row) => [x(row), row[key]]), symbol: rows.length > 1 ? "none" : "circle", symbolSize: 6, lineStyle: { color: colour(ink), width: 1.5, type }, itemStyle: { color: colour(ink) } })),
      { id: "main", type: "line", name: "α", data: rows.map((row) => [x(row), row.alpha]), symbol: "circle", symbolSize: 7, lineStyle: { color: colour("accent"), width: 2.5 }, itemStyle: { color: colour("surface"), borderColor: colour("accent"), borderWidth: 2 }, z: 5 },
      ends(x(last), [{ value: last.alpha, text: `α ${fixed(last.alpha, 2)}`, ink: "accent", bold: true }, ...lines.map(([key, name, ink]) => ({ value: last[key], text: `${name} ${fixed(last[key], 2)}`, ink }))]),
    ],
  };
}

const day = (at) => new Date(at).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

export function couples(rows) {
  const judges = [...new Map(rows.flatMap((row) => [[row.one_id, row.one], [row.other_id, row.other]])).entries()];
  judges.sort(([one], [other]) => one - other);
  const place = new Map(judges.map(([id], index) => [id, index]));
  const names = judges.map(([, name]) => short(name, judges.length > 12 ? 10 : 14));
  const longest = Math.max(...names.map((name) => name.length));
  return {
    ...base(`Weighted kappa of ${rows.length} couples of ${judges.length} judges.`),
    grid: { left: 12 + 7 * longest, right: 8, top: 6, bottom: judges.length > 6 ? 18 + 6 * longest : 26 },
    xAxis: axis({ type: "category", data: names.slice(0, -1), splitLine: { show: false }, axisLabel: { color: colour("muted"), interval: 0, rotate: judges.length > 6 ? 60 : 0, fontSize: judges.length > 20 ? 10 : 12 } }),
    yAxis: axis({ type: "category", inverse: true, data: names.slice(1), splitLine: { show: false }, axisLabel: { color: colour("muted"), interval: 0, fontSize: judges.length > 20 ? 10 : 12 } }),
    tooltip: {
      ...base("").tooltip,
      trigger: "item",
      formatter: ({ dataIndex }) => {
        const row = rows[dataIndex];
        return `${row.one} and ${row.other}\nWeighted kappa ${fixed(row.kappa, 2)} (95 % ${fixed(row.low, 2)}–${fixed(row.high, 2)})\nn = ${number.format(row.pairs)} pairs both judged`;
      },
    },
    series: [
      {
        id: "main",
        type: "custom",
        data: rows.map((row) => [place.get(row.one_id), place.get(row.other_id) - 1]),
        renderItem: ({ dataIndex }, api) => {
          const { kappa } = rows[dataIndex];
          return kappa === null ? cell(api, "–", { fill: colour("sunken"), ink: colour("muted") }) : cell(api, fixed(kappa, 2), heat(kappa));
        },
      },
    ],
  };
}

/** A square for a few judges, a field for many. */
export function couplesHeight(rows) {
  const judges = new Set(rows.flatMap((row) => [row.one_id, row.other_id])).size;
  return Math.min(Math.max(judges * 26 + 70, 200), 900);
}

export function matrix(rows) {
  return {
    ...base(`What a judge says, by what the others say. ${rows.filter((row) => row.consensus === row.judge).map((row) => `${row.consensus}: ${percent(row.share)} the same`).join(", ")}.`),
    grid: { left: 76, right: 8, top: 6, bottom: 46 },
    xAxis: axis({ type: "category", data: GRADES, name: "the judge says", nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: colour("text"), interval: 0, hideOverlap: false, fontSize: 11, formatter: abbreviated } }),
    yAxis: axis({ type: "category", inverse: true, data: GRADES, splitLine: { show: false }, axisLabel: { color: colour("text") } }),
    tooltip: {
      ...base("").tooltip,
      trigger: "item",
      formatter: ({ dataIndex }) => {
        const row = rows[dataIndex];
        return `The others say ${row.consensus}, the judge ${row.judge}\n${percent(row.share)} of the row, n = ${number.format(row.count)} judgments`;
      },
    },
    series: [
      {
        id: "main",
        type: "custom",
        data: rows.map((row) => [GRADES.indexOf(row.judge), GRADES.indexOf(row.consensus)]),
        renderItem: ({ dataIndex }, api) => {
          const { share } = rows[dataIndex];
          return share === null ? cell(api, "–", { fill: colour("sunken"), ink: colour("muted") }) : cell(api, percent(share), heat(share, { cold: "none" }));
        },
      },
    ],
  };
}

/** How two judges of a pair differ. Rows that were inferred are paler. */
export function pooled(rows) {
  return {
    ...base(`What another judge says, by what one says. ${rows.filter((row) => row.one === row.other).map((row) => `${row.one}: ${percent(row.share)} the same`).join(", ")}.`),
    grid: { left: 76, right: 8, top: 6, bottom: 46 },
    xAxis: axis({ type: "category", data: GRADES, name: "another says", nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: colour("text"), interval: 0, hideOverlap: false, fontSize: 11, formatter: abbreviated } }),
    yAxis: axis({ type: "category", inverse: true, data: GRADES, splitLine: { show: false }, axisLabel: { color: colour("text") } }),
    tooltip: {
      ...base("").tooltip,
      trigger: "item",
      formatter: ({ dataIndex }) => {
        const row = rows[dataIndex];
        const n = row.how ? "inferred from the other rows" : `n = ${number.format(row.count)} couples`;
        return `One says ${row.one}, another ${row.other}\n${percent(row.share)} of the row (95 % ${percent(row.low)}–${percent(row.high)})\n${n}`;
      },
    },
    series: [
      {
        id: "main",
        type: "custom",
        data: rows.map((row) => [GRADES.indexOf(row.other), GRADES.indexOf(row.one)]),
        renderItem: ({ dataIndex }, api) => {
          const { share, how } = rows[dataIndex];
          return cell(api, `${how ? "≈ " : ""}${percent(share)}`, heat(how ? share / 2 : share, { cold: "none" }));
        },
      },
    ],
  };
}

export function byGrade(rows) {
  return {
    ...base(`Agreement by grade: ${rows.map((row) => `${row.name} ${percent(row.value)}`).join(", ")}.`),
    grid: { left: 68, right: 96, top: 4, bottom: 22 },
    xAxis: axis({ type: "value", min: 0, max: 1, interval: 0.25, axisLabel: { color: colour("muted"), formatter: percent } }),
    yAxis: axis({ type: "category", inverse: true, data: rows.map((row) => row.name), splitLine: { show: false }, axisLabel: { color: colour("text"), fontSize: 13 } }),
    tooltip: {
      ...base("").tooltip,
      trigger: "item",
      formatter: ({ dataIndex }) => {
        const row = rows[dataIndex];
        return `${row.name}: another says it too in ${row.how ? "at least " : ""}${percent(row.value)} (95 % ${percent(row.low)}–${percent(row.high)})\nn = ${number.format(row.couples)} couples of judgments`;
      },
    },
    series: [
      { id: "main", type: "bar", barMaxWidth: 22, data: rows.map((row) => ({ value: row.value ?? 0, itemStyle: { color: colour(`g${row.grade}`), borderRadius: [0, 4, 4, 0] } })) },
      {
        type: "custom",
        silent: true,
        z: 6,
        data: rows.map((row, index) => [row.low ?? NaN, index, row.high ?? NaN]),
        renderItem: ({ dataIndex }, api) => {
          const row = rows[dataIndex];
          if (row.low === null) return null;
          const [left, y] = api.coord([api.value(0), api.value(1)]);
          const [right] = api.coord([api.value(2), api.value(1)]);
          return {
            type: "group",
            children: [
              { type: "line", shape: { x1: left, y1: y, x2: right, y2: y }, style: { stroke: colour("text"), lineWidth: 1.5 } },
              { type: "text", style: { text: `${row.how ? "≥ " : ""}${percent(row.value)}`, x: right + 8, y, fill: colour("text"), verticalAlign: "middle", fontSize: 12 } },
            ],
          };
        },
      },
    ],
  };
}
