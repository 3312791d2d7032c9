// Bars in groups, as SVG: a group for each label, in it a bar for each series.
import { max } from "d3-array";
import { scaleBand, scaleLinear } from "d3-scale";
import { useEffect, useRef, useState } from "preact/hooks";
import { digits, tick } from "../format.js";
import { html } from "../html.js";
import { Legend } from "./legend.js";

const [TOP, BOTTOM, LEFT, RIGHT] = [10, 42, 46, 6];

/**
 * labels: the groups; series: [{name, color, dash, mark, values: [...]}]; below: a second line under each label, or
 * nothing. format: number => text, for the tip of a bar.
 */
export function Bars({ labels, series, xLabel, yLabel, below, height = 280, format = (value) => digits(value, 2) }) {
  const [box, width] = useWidth();
  const x = scaleBand(labels.map((_, n) => n), [LEFT, width - RIGHT]).paddingInner(0.28).paddingOuter(0.12);
  const inner = scaleBand(series.map((_, n) => n), [0, x.bandwidth()]).paddingInner(0.12);
  const y = scaleLinear([0, max(series, (each) => max(each.values)) || 1], [height - BOTTOM, TOP]).nice(5);
  const room = Math.max(1, Math.floor(x.step() / 6.6));
  return html`<div class="chart" ref=${box}>
    <${Legend} series=${series} />
    <svg class="bars" width=${width} height=${height} role="img" viewBox=${`0 0 ${width} ${height}`}
      aria-label=${`${yLabel} by ${xLabel}: ${series.map((each) => each.name).join(", ")}`}>
      ${y.ticks(5).map((each) => html`<g>
        <line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(each)} y2=${y(each)} />
        <text class="mark" x=${LEFT - 8} y=${y(each) + 4} text-anchor="end">${tick(each)}</text></g>`)}
      ${series.map((each, s) => each.values.map((value, n) => value != null && html`
        <rect x=${x(n) + inner(s)} y=${y(value)} width=${Math.max(1, inner.bandwidth())} rx="1.5"
          height=${Math.max(0, y(0) - y(value))} style=${filled(each)}>
          <title>${`${each.name}, ${labels[n]}: ${format(value)}`}</title></rect>`))}
      ${labels.map((each, n) => html`<text class="mark" x=${x(n) + x.bandwidth() / 2} y=${height - BOTTOM + 16}
        text-anchor="middle">${cut(each, room)}${below && html`<tspan class="second" x=${x(n) + x.bandwidth() / 2}
        dy="1.2em">${cut(below[n], room)}</tspan>`}<title>${each}</title></text>`)}
      ${!below && html`
        <text class="mark" x=${(LEFT + width) / 2} y=${height - 6} text-anchor="middle">${xLabel}</text>`}
      <text class="mark" transform=${`translate(12 ${(height - BOTTOM + TOP) / 2}) rotate(-90)`}
        text-anchor="middle">${yLabel}</text>
    </svg>
  </div>`;
}

/** A bar in its color; where that is another's already, a pale one with an outline in dashes. */
function filled({ color, dash = [], mark = 0 }) {
  const outline = `stroke:${color};stroke-width:1.5;stroke-dasharray:${dash.join(" ")}`;
  return mark ? `fill:${color};fill-opacity:0.3;${outline}` : `fill:${color}`;
}

function cut(text, most) {
  const letters = [...String(text)];
  return letters.length <= most ? text : `${letters.slice(0, Math.max(1, most - 1)).join("")}…`;
}

/** [ref, width in pixels of the element it is put on]. */
export function useWidth(first = 640) {
  const box = useRef(null);
  const [width, setWidth] = useState(first);
  useEffect(() => {
    const measure = () => { if (box.current?.clientWidth) setWidth(Math.floor(box.current.clientWidth)); };
    measure();
    const sized = new ResizeObserver(measure);
    sized.observe(box.current);
    return () => sized.disconnect();
  }, []);
  return [box, width];
}
