// A number and its interval as a dot on a short line, on a scale that all rows share.
import { scaleLinear } from "d3-scale";
import { digits, tick } from "../../format.js";
import { html } from "../../html.js";

const [WIDTH, HEIGHT, EDGE] = [136, 18, 6];

/** The scale of all rows that can be compared. */
export function place(rows) {
  const shown = rows.filter((row) => row.comparable !== false && row.bits_per_byte != null);
  const ends = shown.flatMap((row) => row.interval ?? [row.bits_per_byte]).filter((each) => each != null);
  const [low, high] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
  return scaleLinear([low, high === low ? low + 1 : high], [EDGE, WIDTH - EDGE]);
}

/** The values of that scale, over the column. */
export function Axis({ at }) {
  const anchor = (x) => (x < 15 ? "start" : x > WIDTH - 15 ? "end" : "middle");
  return html`<svg class="whisker" width=${WIDTH} height="14" aria-hidden="true">${at.ticks(3).map((each) => html`
    <text class="mark" x=${at(each)} y="11" text-anchor=${anchor(at(each))}>${tick(each)}</text>`)}</svg>`;
}

export function Whisker({ row, at, look }) {
  if (row.comparable === false || row.bits_per_byte == null) return null;
  const [low, high] = row.interval ?? [row.bits_per_byte, row.bits_per_byte];
  const told = row.interval ? `${digits(low)} to ${digits(high)}` : "no interval";
  const middle = HEIGHT / 2;
  return html`<svg class="whisker" width=${WIDTH} height=${HEIGHT} role="img" aria-label=${told}
    style=${`color:${look.color}`}>
    ${at.ticks(3).map((each) => html`<line class="grid" x1=${at(each)} x2=${at(each)} y1="0" y2=${HEIGHT} />`)}
    <line class="reach" x1=${at(low)} x2=${at(high)} y1=${middle} y2=${middle} />
    <${Mark} x=${at(row.bits_per_byte)} y=${middle} mark=${look.mark} />
    <title>${digits(row.bits_per_byte)}, 95 % interval: ${told}</title></svg>`;
}

/** As the dot before the name: a disk, a ring, a square, a hollow square. */
function Mark({ x, y, mark = 0 }) {
  const style = mark % 2 ? "fill:var(--paper);stroke:currentColor;stroke-width:2" : undefined;
  return mark > 1 ? html`<rect x=${x - 4} y=${y - 4} width="8" height="8" style=${style} />`
    : html`<circle cx=${x} cy=${y} r="4" style=${style} />`;
}
