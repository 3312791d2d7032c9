// A number and its interval as a dot on a short line, on a scale that all rows share.
import { scaleLinear } from "d3-scale";
import { digits, tick } from "../../format.js";
import { html } from "../../html.js";

const [WIDTH, HEIGHT, EDGE] = [136, 18, 6];

const FAR = 0.6; // spans of the models: a compressor that lies further from them is beyond the cut

/** The scale of all rows that can be compared; models are always on it, compressors only if they lie near. */
export function place(rows) {
  const shown = rows.filter((row) => row.comparable !== false && row.bits_per_byte != null);
  const models = shown.filter((row) => row.kind !== "compressor");
  const ends = (models.length ? models : shown).flatMap((row) => [row.bits_per_byte, ...(row.interval ?? [])])
    .filter((each) => each != null);
  let [low, high] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
  const reach = FAR * (high - low || Math.abs(high) * 0.1 || 1);
  const near = shown.map((row) => row.bits_per_byte).filter((bits) => bits >= low - reach && bits <= high + reach);
  [low, high] = [Math.min(low, ...near), Math.max(high, ...near)];
  return scaleLinear([low, high === low ? low + 1 : high], [EDGE, WIDTH - EDGE]);
}

/** The rows that lie beyond the ends of the scale. */
export function beyond(rows, at) {
  const [low, high] = at.domain();
  return rows.filter((row) => row.comparable !== false && row.bits_per_byte != null
    && (row.bits_per_byte < low || row.bits_per_byte > high));
}

/** The values of that scale, over the column. */
export function Axis({ at }) {
  const anchor = (x) => (x < 15 ? "start" : x > WIDTH - 15 ? "end" : "middle");
  return html`<svg class="whisker" width=${WIDTH} height="14" aria-hidden="true">${at.ticks(3).map((each) => html`
    <text class="mark" x=${at(each)} y="11" text-anchor=${anchor(at(each))}>${tick(each)}</text>`)}</svg>`;
}

export function Whisker({ row, at, look }) {
  if (row.comparable === false || row.bits_per_byte == null) return null;
  const [least, most] = at.domain();
  const way = row.bits_per_byte > most ? 1 : row.bits_per_byte < least ? -1 : 0;
  const [low, high] = row.interval ?? [row.bits_per_byte, row.bits_per_byte];
  const told = way ? `beyond the axis, ${way > 0 ? "to the right" : "to the left"}` : row.interval ? `${digits(low)} to ${digits(high)}` : "no interval";
  const middle = HEIGHT / 2;
  return html`<svg class="whisker" width=${WIDTH} height=${HEIGHT} role="img" aria-label=${told}
    style=${`color:${look.color}`}>
    ${at.ticks(3).map((each) => html`<line class="grid" x1=${at(each)} x2=${at(each)} y1="0" y2=${HEIGHT} />`)}
    ${way ? html`<${Arrow} way=${way} y=${middle} />` : html`
    <line class="reach" x1=${at(low)} x2=${at(high)} y1=${middle} y2=${middle} />
    <${Mark} x=${at(row.bits_per_byte)} y=${middle} mark=${look.mark} />`}
    <title>${digits(row.bits_per_byte)}${way ? `, ${told}` : `, 95 % interval: ${told}`}</title></svg>`;
}

/** At the end of the axis, where a value lies beyond it: a cut line and an arrow head. */
function Arrow({ way, y }) {
  const x = way > 0 ? WIDTH - 2 : 2;
  return html`<path class="beyond" d=${`M${x - way * 26} ${y}h${way * 7}m${way * 4} -5l${-way * 4} 10m${way * 8} -10l${-way * 4} 10m${way * 3} -5H${x}m${-way * 6} -4l${way * 6} 4l${-way * 6} 4`} />`;
}

/** As the dot before the name: a disk, a ring, a square, a hollow square. */
function Mark({ x, y, mark = 0 }) {
  const style = mark % 2 ? "fill:var(--paper);stroke:currentColor;stroke-width:2" : undefined;
  return mark > 1 ? html`<rect x=${x - 4} y=${y - 4} width="8" height="8" style=${style} />`
    : html`<circle cx=${x} cy=${y} r="4" style=${style} />`;
}
