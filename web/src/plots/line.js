// Lines or points over two axes, linear or logarithmic, drawn by uPlot.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { tick } from "../format.js";
import { html } from "../html.js";
import { onLookChange, resolved } from "../palette.js";
import { Legend } from "./legend.js";
import { Readout } from "./readout.js";

const FONT = "12px system-ui, sans-serif";
const [FEW, MANY] = [24, 150]; // fewer points of a line are marked; more points of a cloud are small

/**
 * series: [{name, color, dash, mark, x: [...], y: [...], points: true for dots only}], x ascending; null y breaks a
 * line. xLog, yLog: logarithmic axes (values of 0 or less are left out). xRange, yRange: [low, high] or nothing.
 * xFormat, yFormat: number => text, under the pointer; xTick the same along the axis. describe: x => text, instead of
 * xFormat. label: what the chart is, for those who cannot see it.
 */
export function LineChart({ series, xLabel, yLabel, xLog = false, yLog = false, xRange, yRange, height = 300,
  xFormat = tick, yFormat = tick, xTick = xFormat, describe, label }) {
  const [hidden, setHidden] = useState(new Set());
  const [at, setAt] = useState(null);
  const box = useRef(null);
  const shown = series.filter((each) => !hidden.has(each.name));
  const frame = { xLabel, yLabel, xLog, yLog, xRange, yRange, height };
  const key = useMemo(() => JSON.stringify([shown.map(({ name, color, x, y }) => [name, color, x, y]), frame]),
    [series, hidden, ...Object.values(frame)]);
  useEffect(() => kept(box.current, height, () => {
    setAt(null);
    return drawn(box.current, { ...frame, series: shown, xTick, setAt });
  }), [key]);
  const toggle = (name) => setHidden((old) => {
    const next = new Set(old);
    if (!next.delete(name) && next.size < series.length - 1) next.add(name);
    return next;
  });
  return html`<div class="chart" role="group" aria-label=${label ?? `${yLabel} by ${xLabel}`}>
    <${Legend} series=${series} hidden=${hidden} onToggle=${series.length > 1 ? toggle : undefined} />
    <div class="canvas" ref=${box}>${at && html`
      <${Readout} at=${at} series=${shown} ...${{ xLog, xFormat, yFormat, describe }} />`}</div>
  </div>`;
}

/** Draws, and again when the colors change; follows the width of its box. Gives what ends it. */
function kept(box, height, draw) {
  let chart = draw();
  const stop = onLookChange(() => { chart.destroy(); chart = draw(); });
  const sized = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width > 0 && width !== chart.width && !matchMedia("print").matches) chart.setSize({ width, height });
  });
  sized.observe(box);
  return () => { stop(); sized.disconnect(); chart.destroy(); };
}

function drawn(box, { series, xLabel, yLabel, xLog, yLog, xRange, yRange, height, xTick, setAt }) {
  const scale = (log, range) => ({ time: false, distr: log ? 3 : 1, ...(range ? { range } : {}) });
  const point = (u) => setAt(u.cursor.left >= 0 && u.cursor.idx != null ? { x: u.posToVal(u.cursor.left, "x"),
    left: u.cursor.left + u.bbox.left / devicePixelRatio, width: u.width } : null);
  const options = {
    width: Math.max(200, Math.floor(box.clientWidth)), height, legend: { show: false }, padding: [10, 22, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: { x: scale(xLog, xRange ?? around(series, xLog)), y: scale(yLog, yRange) },
    axes: [{ ...axis(xLabel, xTick, xLog, false), size: 30 }, { ...axis(yLabel, tick, yLog, true), size: 48 }],
    series: [{}, ...series.map(styled)],
    hooks: { setCursor: [point] },
  };
  return new uPlot(options, aligned(series, xLog, yLog), box);
}

function axis(label, format, log, grid) {
  const line = resolved("var(--line)");
  return { label, labelSize: 22, labelGap: 2, font: FONT, labelFont: FONT, stroke: resolved("var(--soft)"), gap: 6,
    grid: { show: grid, stroke: line, width: 1 }, ticks: { show: !grid && !log, stroke: line, size: 4 },
    values: (_, ticks) => ticks.map(format),
    ...(log && { filter: (_, ticks) => ticks, splits: (u, _, low, high) => powers(low, high, u.width) }) };
}

function styled({ color, dash, mark = 0, x, points }) {
  const stroke = resolved(color);
  const size = (points ? (x.length > MANY ? 4 : 7) : x.length === 1 ? 11 : 5) - (mark > 1 ? 1 : 0);
  const inside = mark % 2 ? { fill: resolved("var(--paper)"), width: 1.5 } : { fill: stroke, width: 0 };
  return { stroke, width: 2, dash, spanGaps: true, ...(points ? { paths: () => null } : {}),
    points: { show: points || x.length < FEW, size, stroke, ...inside, ...(mark > 1 && { paths: squares(size) }) } };
}

/** Squares in the place of dots, as uPlot takes paths; 3: it may clip both the line and the inside. */
function squares(size) {
  return (u, series, first, last) => {
    const [path, half] = [new Path2D(), size * devicePixelRatio / 2];
    for (let n = first; n <= last; n++) {
      if (u.data[series][n] == null) continue;
      path.rect(u.valToPos(u.data[0][n], "x", true) - half, u.valToPos(u.data[series][n], "y", true) - half,
        2 * half, 2 * half);
    }
    return { stroke: path, fill: path, clip: null, flags: 3 };
  };
}

/** uPlot wants one list of x for all series. */
function aligned(series, xLog, yLog) {
  if (!series.length) return [[]];
  return uPlot.join(series.map(({ x, y }) => {
    const shown = x.map((_, n) => n).filter((n) => x[n] != null && (!xLog || x[n] > 0));
    const value = (n) => (y[n] == null || (yLog && y[n] <= 0) ? null : y[n]);
    return [shown.map((n) => x[n]), shown.map(value)];
  }));
}

/** On a logarithmic axis the powers of ten are written, and where there is room also 2 and 5 times them. */
function powers(low, high, width) {
  const room = width / (Math.log10(high / low) || 1); // pixels for a factor of ten
  const every = Math.max(1, Math.ceil(60 / room));
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    if (power % every) continue;
    for (const times of room > 190 ? [1, 2, 5] : [1]) found.push(Number(`${times}e${power}`));
  }
  return found.filter((each) => each >= low * 0.999 && each <= high * 1.001);
}

/** A range that leaves a little room on both sides. */
function around(series, log) {
  const all = series.flatMap((each) => each.x).filter((x) => x != null && (!log || x > 0));
  if (!all.length) return undefined;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const more = log ? Math.max((high / low) ** 0.03, 1.05) : (high - low) * 0.02 || 0.5;
  return log ? [low / more, high * more] : [low - more, high + more];
}
