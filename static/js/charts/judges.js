// The charts of judges and of costs.
import { axis, band, base, colour, ends, fixed, limits, number, percent, tip } from "./parts.js";

export function againstBest(rows) {
  const x = (row) => row.judges;
  const last = rows.at(-1);
  return {
    ...base(`Share of gold pairs where the majority is right, by the number of judges. With ${last.judges} judges ${percent(last.accuracy)}, the best judge alone ${percent(last.best)}.`),
    grid: { left: 48, right: 124, top: 14, bottom: 44 },
    xAxis: axis({ type: "category", data: rows.map((row) => String(row.judges)), name: "judges of a pair", nameLocation: "middle", nameGap: 28, splitLine: { show: false } }),
    yAxis: axis({ type: "value", ...limits(rows.flatMap((row) => [row.low, row.high, row.best]), 0), axisLabel: { color: colour("muted"), formatter: percent } }),
    tooltip: tip((index) => {
      const row = rows[index];
      return `Majority of ${row.judges}: right for ${percent(row.accuracy)} (95 % ${percent(row.low)}–${percent(row.high)})\nBest judge: ${percent(row.best)}\nn = ${number.format(row.pairs)} gold pairs`;
    }),
    series: [
      ...band(rows, (row) => String(x(row))),
      { type: "line", silent: true, data: rows.map((row) => [String(x(row)), row.best]), symbol: "none", lineStyle: { color: colour("muted"), type: "dashed", width: 1.5 } },
      { id: "main", type: "line", data: rows.map((row) => [String(x(row)), row.accuracy]), symbol: "circle", symbolSize: 8, lineStyle: { color: colour("accent"), width: 2.5 }, itemStyle: { color: colour("surface"), borderColor: colour("accent"), borderWidth: 2 }, z: 5 },
      ends(String(last.judges), [
        { value: last.accuracy, text: `majority ${percent(last.accuracy)}`, ink: "text", bold: true },
        { value: last.best, text: `best judge ${percent(last.best)}`, ink: "muted" },
      ]),
    ],
  };
}

export function histogram(rows) {
  const bar = (id, name, key, ink) => ({
    id,
    type: "bar",
    name,
    barMaxWidth: 14,
    barGap: "20%",
    data: rows.map((row) => row[key]),
    itemStyle: { color: colour(ink), borderRadius: [0, 3, 3, 0] },
    label: { show: true, position: "right", color: colour("muted"), formatter: ({ value }) => percent(value) },
  });
  return {
    ...base(`Shares of grades. ${rows.map((row) => `${row.name}: hers ${percent(row.her_share)}, the others ${percent(row.others_share)}`).join("; ")}.`),
    legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 10, textStyle: { color: colour("text") }, selectedMode: false },
    grid: { left: 68, right: 60, top: 30, bottom: 4 },
    xAxis: axis({ type: "value", show: false }),
    yAxis: axis({ type: "category", inverse: true, data: rows.map((row) => row.name), axisLabel: { color: colour("text"), fontSize: 13 } }),
    tooltip: {
      ...base("").tooltip,
      trigger: "axis",
      axisPointer: { type: "shadow", shadowStyle: { color: colour("sunken"), opacity: 0.5 } },
      formatter: ([{ dataIndex }]) => {
        const row = rows[dataIndex];
        return `${row.name}\nShe: ${number.format(row.hers)} (${percent(row.her_share)})\nMajority of the others: ${number.format(row.others)} (${percent(row.others_share)})`;
      },
    },
    series: [bar("main", "hers", "her_share", "accent"), bar("others", "majority of the others", "others_share", "line-strong")],
  };
}

/** What each scheme used is a bar; what it would have come to by its formula a mark behind it. */
export function schemes(rows) {
  const most = Math.max(...rows.map((row) => Math.max(row.labelling, row.formula ?? 0)));
  return {
    ...base(`Judgments per pair by scheme: ${rows.map((row) => `${row.scheme} ${row.short ? "at least " : ""}${fixed(row.labelling, 2)}`).join(", ")}.`),
    grid: { left: 118, right: 110, top: 4, bottom: 44 },
    xAxis: axis({ type: "value", min: 0, max: Math.ceil(most), minInterval: 1, name: "judgments per pair", nameLocation: "middle", nameGap: 28 }),
    yAxis: axis({ type: "category", inverse: true, data: rows.map((row) => row.scheme), splitLine: { show: false }, axisLabel: { color: colour("text"), fontSize: 13 } }),
    tooltip: { ...base("").tooltip, trigger: "item", formatter: ({ dataIndex }) => priced(rows[dataIndex]) },
    series: [
      {
        id: "main",
        type: "bar",
        barMaxWidth: 22,
        data: rows.map((row) => ({
          value: row.labelling,
          itemStyle: { color: colour(row.own ? "accent" : "line-strong"), opacity: row.short ? 0.6 : 1, borderRadius: [0, 4, 4, 0] },
        })),
      },
      { type: "custom", silent: true, z: 6, data: rows.map((row, index) => [row.labelling, index, row.formula ?? NaN]), renderItem: ({ dataIndex }, api) => marked(api, rows[dataIndex]) },
    ],
  };
}

function priced(row) {
  const short = row.short ? `\n${number.format(row.short)} pairs would have wanted ${number.format(row.missing)} judgments more, at least` : "";
  return `${row.scheme}${row.own ? ", yours" : ""}\n${row.short ? "At least " : ""}${fixed(row.labelling, 2)} judgments per pair, formula ${fixed(row.formula, 2)}${short}`;
}

function marked(api, row) {
  const [end, y] = api.coord([api.value(0), api.value(1)]);
  const [formula] = api.coord([api.value(2), api.value(1)]);
  const known = row.formula !== null;
  const text = row.own ? `${fixed(row.labelling, 2)} yours${row.short ? ", so far" : ""}` : row.short && known ? `${fixed(row.formula, 2)} by formula` : fixed(row.labelling, 2);
  const style = { stroke: colour("text"), lineWidth: 2 };
  return {
    type: "group",
    children: [
      ...(known && formula > end ? [{ type: "line", shape: { x1: end, y1: y, x2: formula, y2: y }, style: { ...style, lineWidth: 1, lineDash: [3, 3], stroke: colour("line-strong") } }] : []),
      ...(known ? [{ type: "line", shape: { x1: formula, y1: y - 9, x2: formula, y2: y + 9 }, style }] : []),
      { type: "text", style: { text, x: Math.max(end, known ? formula : end) + 8, y, fill: colour("text"), verticalAlign: "middle", fontSize: 12, fontWeight: row.own ? 650 : 400 } },
    ],
  };
}
