// What each chart shows, as ECharts options. Colours come from the page's custom properties; the
// same figures stand in a table under every chart.

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
const number = new Intl.NumberFormat(document.documentElement.lang);
const fixed = (value, digits) => (value === null ? "–" : value.toFixed(digits));

function base(description) {
  const fontFamily = getComputedStyle(document.body).fontFamily;
  return {
    animation: !still,
    animationDuration: 400,
    aria: { enabled: true, label: { description } },
    textStyle: { fontFamily, fontSize: 12 },
    tooltip: {
      renderMode: "richText",
      confine: true,
      backgroundColor: colour("surface"),
      borderColor: colour("line"),
      textStyle: { color: colour("text"), fontFamily, fontSize: 12, lineHeight: 18 },
    },
  };
}

function axis(extra) {
  return {
    axisLine: { show: false },
    axisTick: { show: false },
    axisLabel: { color: colour("muted"), hideOverlap: true },
    nameTextStyle: { color: colour("muted") },
    splitLine: { lineStyle: { color: colour("line") } },
    ...extra,
  };
}

/** The interval as two stacked lines: an unseen one at its foot, a filled one as high as it is. */
function band(points, x) {
  const known = points.filter((point) => point.low !== null && point.high !== null);
  const line = { type: "line", stack: "interval", stackStrategy: "all", symbol: "none", silent: true, lineStyle: { opacity: 0 }, tooltip: { show: false } };
  return [
    { ...line, name: "low", data: known.map((point) => [x(point), point.low]) },
    {
      ...line,
      name: "interval",
      data: known.map((point) => [x(point), point.high - point.low]),
      areaStyle: { color: colour("accent"), opacity: 0.14 },
    },
  ];
}

/** One point has no width to fill: its interval is a whisker. */
function whisker(points, x) {
  return {
    type: "custom",
    name: "95 % interval",
    silent: true,
    data: points.filter((point) => point.low !== null).map((point) => [x(point), point.low, point.high]),
    renderItem(_, api) {
      const [at, low] = api.coord([api.value(0), api.value(1)]);
      const high = api.coord([api.value(0), api.value(2)])[1];
      const style = { stroke: colour("accent"), lineWidth: 2, opacity: 0.5 };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      return { type: "group", children: [line(at, low, at, high), line(at - 6, low, at + 6, low), line(at - 6, high, at + 6, high)] };
    },
  };
}

/** Round ends a little outside the figures, in steps that suit how far they lie apart. */
function limits(values, floor) {
  const known = values.filter((value) => value !== null);
  const spread = Math.max(...known) - Math.min(...known);
  const step = spread > 0.5 ? 0.2 : spread > 0.25 ? 0.1 : 0.05;
  const low = Math.floor((Math.min(...known) - step / 10) / step) * step;
  const high = Math.ceil((Math.max(...known) + step / 10) / step) * step;
  return { min: Number(Math.max(low, floor).toFixed(2)), max: Number(Math.min(high, 1).toFixed(2)), interval: step };
}

function ranker(runs) {
  const name = (run) => `run ${run.run}`;
  const last = runs.at(-1);
  const interval = runs.length > 1 ? band(runs, name) : [whisker(runs, name)];
  return {
    ...base(`NDCG at 3 of ${runs.length} training runs. The latest has ${fixed(last.mean, 3)}, the first stage ${fixed(last.first_stage, 3)}, over ${last.n} queries.`),
    grid: { left: 44, right: 84, top: 14, bottom: 28 },
    xAxis: axis({ type: "category", data: runs.map(name), splitLine: { show: false }, boundaryGap: true }),
    yAxis: axis({ type: "value", scale: true, ...limits(runs.flatMap((run) => [run.low, run.high, run.mean, run.first_stage]), 0) }),
    tooltip: {
      ...base("").tooltip,
      trigger: "axis",
      axisPointer: { lineStyle: { color: colour("line-strong") } },
      formatter: ([point]) => {
        const run = runs[point.dataIndex];
        return `Run ${run.run}, after ${number.format(run.judgments)} judgments\nNDCG@3 ${fixed(run.mean, 3)} (95 % ${fixed(run.low, 3)}–${fixed(run.high, 3)})\nFirst stage ${fixed(run.first_stage, 3)}\nn = ${run.n} queries`;
      },
    },
    series: [
      ...interval,
      {
        type: "line",
        name: "first stage",
        data: runs.map((run) => [name(run), run.first_stage]),
        symbol: runs.length > 1 ? "none" : "rect",
        symbolSize: [40, 1.5],
        lineStyle: { color: colour("muted"), type: "dashed", width: 1.5 },
        itemStyle: { color: colour("muted") },
        endLabel: { show: true, formatter: "first stage", color: colour("muted"), distance: runs.length > 1 ? 10 : 26 },
        labelLayout: { moveOverlap: "shiftY" },
      },
      {
        type: "line",
        name: "ranker",
        data: runs.map((run) => [name(run), run.mean]),
        symbol: "circle",
        symbolSize: 8,
        lineStyle: { color: colour("accent"), width: 2.5 },
        itemStyle: { color: colour("surface"), borderColor: colour("accent"), borderWidth: 2 },
        endLabel: { show: true, formatter: fixed(last.mean, 3), color: colour("text"), fontWeight: 650, distance: 10 },
        labelLayout: { moveOverlap: "shiftY" },
        z: 5,
      },
    ],
  };
}

function grades(rows) {
  const total = rows.reduce((sum, row) => sum + row.count, 0);
  const words = rows.map((row) => `${row.count} ${row.name}`).join(", ");
  return {
    ...base(`Judgments per grade: ${words}.`),
    grid: { left: 68, right: 88, top: 4, bottom: 4 },
    xAxis: axis({ type: "value", show: false }),
    yAxis: axis({ type: "category", inverse: true, data: rows.map((row) => row.name), axisLabel: { color: colour("text"), fontSize: 13 } }),
    tooltip: { show: false },
    series: [
      {
        type: "bar",
        data: rows.map((row) => ({ value: row.count, itemStyle: { color: colour(`g${row.grade}`), borderRadius: [0, 4, 4, 0] } })),
        barMaxWidth: 26,
        label: {
          show: true,
          position: "right",
          color: colour("text"),
          formatter: ({ value }) => `${number.format(value)}  (${Math.round((100 * value) / total)} %)`,
        },
      },
    ],
  };
}

function agreement(all) {
  const shots = all.filter((shot) => shot.alpha !== null);
  const x = (shot) => shot.judgments;
  const last = shots.at(-1);
  const interval = shots.length > 1 ? band(shots, x) : [whisker(shots, x)];
  return {
    ...base(`Krippendorff's alpha over ${shots.length} moments. Now ${fixed(last.alpha, 2)}, 95 % interval ${fixed(last.low, 2)} to ${fixed(last.high, 2)}.`),
    grid: { left: 44, right: 56, top: 14, bottom: 44 },
    xAxis: axis({ type: "value", scale: true, name: "judgments", nameLocation: "middle", nameGap: 28, splitLine: { show: false }, axisLabel: { color: colour("muted"), hideOverlap: true, formatter: (value) => number.format(value) } }),
    yAxis: axis({ type: "value", ...limits(shots.flatMap((shot) => [shot.low, shot.high, shot.alpha]), -1) }),
    tooltip: {
      ...base("").tooltip,
      trigger: "axis",
      axisPointer: { lineStyle: { color: colour("line-strong") } },
      formatter: ([point]) => {
        const shot = shots[point.dataIndex];
        return `After ${number.format(shot.judgments)} judgments\nα ${fixed(shot.alpha, 2)} (95 % ${fixed(shot.low, 2)}–${fixed(shot.high, 2)})\nn = ${number.format(shot.overlapping)} pairs with overlap`;
      },
    },
    series: [
      ...interval,
      {
        type: "line",
        name: "α",
        data: shots.map((shot) => [x(shot), shot.alpha]),
        symbol: shots.length > 30 ? "none" : "circle",
        symbolSize: 6,
        lineStyle: { color: colour("accent"), width: 2.5 },
        itemStyle: { color: colour("surface"), borderColor: colour("accent"), borderWidth: 2 },
        endLabel: { show: true, formatter: fixed(last.alpha, 2), color: colour("text"), fontWeight: 650, distance: 8 },
        z: 5,
      },
    ],
  };
}

/** How to draw each chart, and whether there is anything to draw. */
export const CHARTS = {
  ranker: { option: ranker, filled: (runs) => runs.length > 0 },
  grades: { option: grades, filled: (rows) => rows.length > 0 },
  agreement: { option: agreement, filled: (shots) => shots.some((shot) => shot.alpha !== null) },
};
