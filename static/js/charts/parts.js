// What the charts share: colours of the page, axes, intervals, labels, heat.

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
export const number = new Intl.NumberFormat(document.documentElement.lang);
export const fixed = (value, digits) => (value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−"));
export const percent = (value) => (value === null ? "–" : `${Math.round(100 * value)} %`);

/** On a phone there is no room for whole words beside a chart. */
export const narrow = () => innerWidth < 520;

export function base(description) {
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

export function axis(extra) {
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
export function band(points, x, { low = "low", high = "high", ink = "accent" } = {}) {
  const known = points.filter((point) => point[low] !== null && point[high] !== null);
  const line = { type: "line", stack: low, stackStrategy: "all", symbol: "none", silent: true, lineStyle: { opacity: 0 }, tooltip: { show: false } };
  return [
    { ...line, name: "low", data: known.map((point) => [x(point), point[low]]) },
    {
      ...line,
      name: "interval",
      data: known.map((point) => [x(point), point[high] - point[low]]),
      areaStyle: { color: colour(ink), opacity: 0.14 },
    },
  ];
}

/** One point has no width to fill: its interval is a whisker. */
export function whisker(points, x) {
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
export function limits(values, floor) {
  const known = values.filter((value) => value !== null && value !== undefined);
  const spread = Math.max(...known) - Math.min(...known);
  const step = spread > 0.5 ? 0.2 : spread > 0.25 ? 0.1 : 0.05;
  const low = Math.floor((Math.min(...known) - step / 10) / step) * step;
  const high = Math.ceil((Math.max(...known) + step / 10) / step) * step;
  return { min: Number(Math.max(low, floor).toFixed(2)), max: Number(Math.min(high, 1).toFixed(2)), interval: step };
}

/** What is shown for the point under the pointer, or the one that the keys have reached. */
export function tip(formatter) {
  return {
    ...base("").tooltip,
    trigger: "axis",
    axisPointer: { lineStyle: { color: colour("line-strong") } },
    formatter: (points) => formatter((points[0] ?? points).dataIndex),
  };
}

/** The names of lines at their right ends, pushed apart where the lines end close together. */
export function ends(x, labels) {
  const apart = 15;
  return {
    type: "custom",
    silent: true,
    tooltip: { show: false },
    z: 10,
    data: [x],
    renderItem({ coordSys }, api) {
      const placed = labels
        .filter((label) => label.value !== null && label.value !== undefined)
        .map((label) => ({ ...label, y: api.coord([x, label.value])[1] }))
        .sort((one, other) => one.y - other.y);
      placed.forEach((label, index) => {
        if (index) label.y = Math.max(label.y, placed[index - 1].y + apart);
      });
      const over = placed.length ? placed.at(-1).y - (coordSys.y + coordSys.height) : 0;
      if (over > 0) placed.forEach((label) => { label.y -= over; });
      const left = coordSys.x + coordSys.width + 8;
      return {
        type: "group",
        children: placed.map(({ text, y, ink, bold }) => ({
          type: "text",
          style: { text, x: left, y, fill: colour(ink), verticalAlign: "middle", font: `${bold ? 650 : 400} 12px ${getComputedStyle(document.body).fontFamily}` },
        })),
      };
    },
  };
}

// -- Colours of heat maps -------------------------------------------------------------------------

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.length === 4 ? hex[(at + 1) / 2].repeat(2) : hex.slice(at, at + 2), 16));

function mixed(from, to, share) {
  const [a, b] = [channels(from), channels(to)];
  return a.map((value, index) => Math.round(value + (b[index] - value) * share));
}

/** From brick through the page's own ground to teal; the ink on it is what reads best. */
export function heat(share, { cold = "g0" } = {}) {
  const ground = colour("surface");
  const value = Math.min(Math.max(share, 0), 1);
  const far = cold === "none" ? colour("g3") : value < 0.3 ? colour(cold) : colour("g3");
  const strength = cold === "none" ? value : value < 0.3 ? (0.3 - value) * 1.1 : (value - 0.3) * 1.25 + 0.06;
  const fill = mixed(ground, far, Math.min(strength, 0.9));
  const light = 0.299 * fill[0] + 0.587 * fill[1] + 0.114 * fill[2];
  return { fill: `rgb(${fill.join(",")})`, ink: light > 140 ? "#10151d" : "#ffffff" };
}

/** One cell of a heat map: a rectangle with its number in it, where there is room. */
export function cell(api, text, { fill, ink }) {
  const [x, y] = api.coord([api.value(0), api.value(1)]);
  const [width, height] = api.size([1, 1]);
  return {
    type: "rect",
    shape: { x: x - width / 2 + 1, y: y - height / 2 + 1, width: width - 2, height: height - 2, r: 3 },
    style: { fill },
    emphasis: { style: { stroke: colour("text"), lineWidth: 1.5 } },
    textContent: width > 26 && height > 15 ? { style: { text, fill: ink, fontSize: width < 38 ? 10 : 12 } } : undefined,
    textConfig: { position: "inside" },
  };
}

/** A long name is cut; the whole one stands in the table. */
export const short = (name, most = 14) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
