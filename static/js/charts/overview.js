// The charts of the overview.
import { axis, band, base, colour, ends, fixed, limits, number, percent, tip, whisker } from "./parts.js";

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
