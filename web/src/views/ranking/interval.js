// A measure and its interval as a dot on a short line, on a scale that all rows share.
import { scaleLinear } from "d3-scale";
import { digits, tick } from "../../format.js";
import { html } from "../../html.js";

const [WIDTH, HEIGHT, EDGE] = [160, 18, 6];

export function scaled(rows) {
  const ends = rows.filter((row) => row.value != null).flatMap((row) => row.interval ?? [row.value]);
  const [low, high] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
  return scaleLinear([low, high === low ? low + 1 : high], [EDGE, WIDTH - EDGE]);
}

export function Axis({ at }) {
  const anchor = (x) => (x < 15 ? "start" : x > WIDTH - 15 ? "end" : "middle");
  return html`<svg class="ranking-interval" width=${WIDTH} height="14" aria-hidden="true">${at.ticks(3).map((each) => html`
    <text x=${at(each)} y="11" text-anchor=${anchor(at(each))}>${tick(each)}</text>`)}</svg>`;
}

export function Whisker({ row, at, look, places }) {
  if (row.value == null) return null;
  const [low, high] = row.interval ?? [row.value, row.value];
  const told = row.interval ? `${digits(low, places)} to ${digits(high, places)}` : "no interval";
  return html`<svg class="ranking-interval" width=${WIDTH} height=${HEIGHT} role="img" aria-label=${told} style=${`color:${look.color}`}>
    <line x1=${at(low)} x2=${at(high)} y1=${HEIGHT / 2} y2=${HEIGHT / 2} stroke="currentColor" stroke-width="2" />
    <circle cx=${at(row.value)} cy=${HEIGHT / 2} r="4" fill="currentColor" />
    <title>${digits(row.value, places)}, 95 % interval: ${told}</title></svg>`;
}
