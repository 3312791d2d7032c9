// Lines or points over two axes, linear or logarithmic, drawn by uPlot.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { tick } from "../format.js";
import { html } from "../html.js";
import { onLookChange, resolved } from "../palette.js";
import { Legend } from "./legend.js";

/**
 * series: [{name, color, dash, x: [...], y: [...], points: true for dots only}], x ascending; null y breaks a line.
 * xLog, yLog: logarithmic axes (values of 0 or less are left out). xRange, yRange: [low, high] or nothing.
 * xFormat, yFormat: number => text, under the pointer; xTick the same along the axis. describe: x => text, instead of xFormat.
 */
export function LineChart({ series, xLabel, yLabel, xLog = false, yLog = false, xRange, yRange, height = 300,
  xFormat = tick, yFormat = tick, xTick = xFormat, describe, label }) {
  const [hidden, setHidden] = useState(new Set());
  const [at, setAt] = useState(null);
  const box = useRef(null);
  const shown = series.filter((each) => !hidden.has(each.name));
  const key = useMemo(() => JSON.stringify([shown.map((each) => [each.name, each.color, each.x, each.y]), xLabel, xLog, yLog, xRange, yRange, height]),
    [series, hidden, xLabel, xLog, yLog, xRange, yRange, height]);

  useEffect(() => {
    let chart = null;
    const draw = () => {
      chart?.destroy();
      setAt(null);
      chart = drawn(box.current, { series: shown, xLabel, yLabel, xLog, yLog, xRange, yRange, height, xTick, setAt });
    };
    draw();
    const stop = onLookChange(draw);
    const sized = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (chart && width > 0 && width !== chart.width && !matchMedia("print").matches) chart.setSize({ width, height });
    });
    sized.observe(box.current);
    return () => { stop(); sized.disconnect(); chart?.destroy(); };
  }, [key]);

  const toggle = (name) => setHidden((old) => {
    const next = new Set(old);
    if (!next.delete(name) && next.size < series.length - 1) next.add(name);
    return next;
  });
  return html`<div class="chart" role="group" aria-label=${label ?? `${yLabel} by ${xLabel}`}>
    <${Legend} series=${series} hidden=${hidden} onToggle=${series.length > 1 ? toggle : undefined} />
    <div class="canvas" ref=${box}>${at && html`<${Readout} at=${at} series=${shown} ...${{ xLog, yLog, xFormat, yFormat, describe }} />`}</div>
  </div>`;
}

function drawn(box, { series, xLabel, yLabel, xLog, yLog, xRange, yRange, height, xTick, setAt }) {
  const axis = (label, format, log, grid) => ({
    label, labelSize: 22, labelGap: 2, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
    stroke: resolved("var(--soft)"), gap: 6, ...(log ? { filter: (_, ticks) => ticks, splits: (u, __, low, high) => powers(low, high, u.width) } : {}),
    grid: { show: grid, stroke: resolved("var(--line)"), width: 1 }, ticks: { show: !grid && !log, stroke: resolved("var(--line)"), size: 4 },
    values: (_, ticks) => ticks.map(format),
  });
  const scale = (log, range) => ({ time: false, distr: log ? 3 : 1, ...(range ? { range } : {}) });
  const options = {
    width: Math.max(200, Math.floor(box.clientWidth)), height, legend: { show: false }, padding: [10, 22, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: { x: scale(xLog, xRange ?? around(series, xLog)), y: scale(yLog, yRange) },
    axes: [{ ...axis(xLabel, xTick, xLog, false), size: 30 }, { ...axis(yLabel, tick, yLog, true), size: 48 }],
    series: [{}, ...series.map((each) => styled(each))],
    hooks: { setCursor: [(u) => setAt(u.cursor.left >= 0 && u.cursor.idx != null
      ? { x: u.posToVal(u.cursor.left, "x"), left: u.cursor.left + u.bbox.left / devicePixelRatio, width: u.width } : null)] },
  };
  return new uPlot(options, aligned(series, xLog, yLog), box);
}

function styled({ color, dash, x, points }) {
  const stroke = resolved(color);
  const few = points || x.length < 24;
  return { stroke, width: 2, dash, spanGaps: true, ...(points ? { paths: () => null } : {}),
    points: { show: few, size: points ? (x.length > 150 ? 4 : 7) : x.length === 1 ? 11 : 5, fill: stroke, stroke, width: 0 } };
}

/** uPlot wants one list of x for all series. */
function aligned(series, xLog, yLog) {
  if (!series.length) return [[]];
  return uPlot.join(series.map((each) => {
    const kept = each.x.map((_, n) => n).filter((n) => each.x[n] != null && (!xLog || each.x[n] > 0));
    return [kept.map((n) => each.x[n]), kept.map((n) => (each.y[n] == null || (yLog && each.y[n] <= 0) ? null : each.y[n]))];
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
  if (log) { const more = Math.max((high / low) ** 0.03, 1.05); return [low / more, high * more]; }
  const more = (high - low) * 0.02 || 0.5;
  return [low - more, high + more];
}

function Readout({ at, series, xLog, xFormat, yFormat, describe }) {
  const far = (x) => (xLog ? Math.abs(Math.log(x / at.x)) : Math.abs(x - at.x));
  const near = series.map((each) => {
    let best = -1;
    each.x.forEach((x, n) => { if (each.y[n] != null && (!xLog || x > 0) && (best < 0 || far(x) < far(each.x[best]))) best = n; });
    return { ...each, n: best };
  }).filter((each) => each.n >= 0);
  if (!near.length) return null;
  const x = near.map((each) => each.x[each.n]).reduce((a, b) => (far(b) < far(a) ? b : a));
  const rows = near.map((each) => [each, each.y[each.n]]).sort((a, b) => a[1] - b[1]);
  return html`<div class="readout" style=${at.left > at.width / 2 ? `right:${at.width - at.left + 12}px` : `left:${at.left + 12}px`}>
    <div class="quiet">${describe ? describe(x) : xFormat(x)}</div>
    ${rows.map(([each, y]) => html`<div class="reading"><span class="dot" style=${`background:${each.color}`}></span>
      <span>${each.name}</span><span class="number">${yFormat(y)}</span></div>`)}
  </div>`;
}
