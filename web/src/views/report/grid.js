// A chart over each option of --grid: bits per byte against its value, a line for each recipe, with intervals.
import { extent } from "d3-array";
import { scaleLinear, scaleLog, scalePoint } from "d3-scale";
import { digits, tick } from "../../format.js";
import { html } from "../../html.js";
import { look } from "../../palette.js";
import { Figure, Section } from "../../pieces.js";
import { useWidth } from "../../plots/bars.js";
import { Legend } from "../../plots/legend.js";

const [TOP, BOTTOM, LEFT, RIGHT, HEIGHT] = [12, 44, 52, 16, 300];
const WIDE = 6; // of the largest to the smallest value: from there the axis is logarithmic
const CAPTION = "Lower is better. A dot is one row of the table, the line around it its 95 % interval.";

export function Grid({ report, details }) {
  if (!details.grid?.length) return null;
  const rows = new Map(report.rows.map((row) => [row.name, row]));
  return html`<${Section} id="grid" title="Along the grid" caption=${CAPTION}><div class="pair">
    ${details.grid.map((option) => html`<${Option} option=${option} rows=${rows} />`)}</div><//>`;
}

function Option({ option, rows }) {
  const series = option.lines.map((line, n) => ({ name: line.name, ...look(n), points: line.points
    .map((point) => ({ value: point.value, row: rows.get(point.row) }))
    .filter(({ row }) => row?.bits_per_byte != null && row.comparable !== false) })).filter((line) => line.points.length);
  if (!series.length) return null;
  const numbers = { head: ["recipe", option.option, "bits per byte", "95 % interval"], rows: series.flatMap((line) => line.points.map(
    ({ value, row }) => [line.name, value, digits(row.bits_per_byte), row.interval ? `${digits(row.interval[0])} to ${digits(row.interval[1])}` : "–"])) };
  return html`<${Figure} title=${option.option} numbers=${numbers} wide=${true}><${Chart} series=${series} option=${option} /><//>`;
}

function Chart({ series, option }) {
  const [box, width] = useWidth();
  const x = across(option.values, [LEFT + 14, width - RIGHT - 14]);
  const all = series.flatMap((line) => line.points.flatMap(({ row }) => [row.bits_per_byte, ...(row.interval ?? [])]));
  const y = scaleLinear(extent(all), [HEIGHT - BOTTOM, TOP]).nice(5);
  const aside = (n) => (n - (series.length - 1) / 2) * 5; // so that no interval hides another
  return html`<div class="chart" ref=${box}><${Legend} series=${series} />
    <svg class="bars" width=${width} height=${HEIGHT} viewBox=${`0 0 ${width} ${HEIGHT}`} role="img"
      aria-label=${`bits per byte by ${option.option}: ${series.map((each) => each.name).join(", ")}`}>
      ${y.ticks(5).map((each) => html`<g><line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(each)} y2=${y(each)} />
        <text class="mark" x=${LEFT - 8} y=${y(each) + 4} text-anchor="end">${tick(each)}</text></g>`)}
      ${option.values.map((value) => html`<text class="mark" x=${x(value)} y=${HEIGHT - BOTTOM + 18} text-anchor="middle">${value}</text>`)}
      ${series.map((line, n) => html`<g style=${`stroke:${line.color};fill:${line.color}`}>
        <polyline points=${line.points.map(({ value, row }) => `${x(value) + aside(n)},${y(row.bits_per_byte)}`).join(" ")}
          style=${`fill:none;stroke-width:2;stroke-dasharray:${line.dash.join(" ")}`} />
        ${line.points.map(({ value, row }) => html`<g class="grid-point">
          ${row.interval && html`<line x1=${x(value) + aside(n)} x2=${x(value) + aside(n)} y1=${y(row.interval[0])} y2=${y(row.interval[1])} stroke-width="1.5" />`}
          <circle cx=${x(value) + aside(n)} cy=${y(row.bits_per_byte)} r="4" />
          <title>${`${row.name}: ${digits(row.bits_per_byte)}`}</title></g>`)}</g>`)}
      <text class="mark" x=${(LEFT + width) / 2} y=${HEIGHT - 6} text-anchor="middle">${option.option}</text>
      <text class="mark" transform=${`translate(12 ${(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)`} text-anchor="middle">bits per byte</text>
    </svg></div>`;
}

/** Numbers lie where they are, logarithmically if they differ much; other values stand side by side. */
function across(values, range) {
  const numbers = values.map(Number);
  if (values.length < 2 || numbers.some((each) => !Number.isFinite(each))) return scalePoint(values, range).padding(0.3);
  const [low, high] = extent(numbers);
  const scale = low > 0 && high / low >= WIDE ? scaleLog([low, high], range) : scaleLinear([low, high], range);
  return (value) => scale(Number(value));
}
