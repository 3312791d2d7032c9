// The table of all rows: bits per byte with its interval, and what each model costs.
import { scaleLinear } from "d3-scale";
import { bytes, digits, percent, power, seconds, short, tick } from "../../format.js";
import { html } from "../../html.js";
import { Section } from "../../pieces.js";
import { Dot } from "../../plots/legend.js";
import { Table } from "../../plots/table.js";

const WIDTH = 136;
const CAPTION = html`Lower is better: bits needed to predict one byte of held-out text. The line around a dot is the 95 %
  interval.<span class="no-print"> A click on a heading sorts.</span>`;

export function Rows({ report, looks }) {
  const { rows, best } = report;
  const at = place(rows);
  const measured = (key) => (row) => row.measured?.[key] ?? null;
  const plain = (key, label, title, value, format, descends) =>
    ({ key, label, title, numeric: true, value, render: (row) => format(value(row)), descends });
  const columns = [
    { key: "name", label: "Model", value: (row) => row.name, render: (row) => html`<${Name} row=${row} look=${looks.get(row.name)} best=${best} />` },
    { key: "bits", label: "Bits per byte", title: "Bits needed to predict one byte of held-out text", numeric: true,
      value: (row) => (row.comparable === false ? null : row.bits_per_byte), render: (row) => html`<${Bits} row=${row} />` },
    { key: "interval", label: "95 % interval", head: html`<${Axis} at=${at} />`, title: "Where bits per byte would lie for other text of this kind, 95 times of 100",
      value: (row) => row.interval?.[1] ?? null, render: (row) => html`<${Whisker} row=${row} at=${at} look=${looks.get(row.name)} />` },
    plain("time", "Training", "Time spent training", measured("training_seconds"), seconds),
    plain("speed", "Tokens/s", "Training tokens read in a second", measured("tokens_per_second"), short, true),
    plain("parameters", "Parameters", "Numbers that were learned", (row) => row.parameters ?? null, short),
    plain("flops", "FLOPs", "Arithmetic spent on training", (row) => row.flops ?? null, power),
    plain("memory", "Memory", "The most memory that training needed", measured("peak_memory"), bytes),
    plain("disk", "On disk", "Size of the saved model", (row) => row.disk_bytes ?? null, bytes),
    plain("writing", "Writes/s", "Tokens generated in a second", measured("generation_tokens_per_second"), short, true),
  ].filter((column) => ["name", "bits", "interval"].includes(column.key) || rows.some((row) => column.value(row) != null));
  return html`<${Section} id="rows" title="All models" caption=${CAPTION}>
    <${Table} columns=${columns} rows=${rows} sort=${["bits", false]} caption="Table of all models"
      look=${(row) => [row.kind, row.status === "failed" ? "failed" : "", row.name === best ? "best" : ""].filter(Boolean).join(" ")}
      wide=${(row) => row.status === "failed" && html`<span class="why">Failed. ${row.why ?? ""}</span>`} />
    ${rows.some((row) => row.status !== "failed" && row.comparable === false) && html`<p class="quiet small">Not comparable: the tokenizer loses some of the
      text (unseen words become one sign), so that less than the text is predicted.</p>`}
    ${rows.filter((row) => row.status !== "failed" && row.why).map((row) => html`<p class="quiet small"><b>${row.name}</b>: ${row.why}</p>`)}
    ${rows.some((row) => row.kind === "compressor") && html`<p class="quiet small">${listed(rows.filter((row) => row.kind === "compressor"))}: file
      compressors that everyone has; they are the mark that a model should beat.</p>`}
    <${Seeds} rows=${rows} /><${Weights} rows=${rows} />
  <//>`;
}

const listed = (rows) => rows.map((row) => row.name).join(", ");

function Name({ row, look, best }) {
  const kind = row.kind === "compressor" ? "compressor" : row.kind === "mixture" ? "mixture" : null;
  return html`<span class="name"><${Dot} color=${look.color} /><span>${row.name}</span>
    ${row.name === best && html`<span class="tag good">best</span>`}${kind && html`<span class="tag">${kind}</span>`}</span>`;
}

function Bits({ row }) {
  if (row.comparable !== false) return digits(row.bits_per_byte);
  return html`<span class="quiet">not comparable${row.perplexity != null && html`<br />perplexity ${digits(row.perplexity, 0)}`}</span>`;
}

/** A scale that all rows share. */
function place(rows) {
  const shown = rows.filter((row) => row.comparable !== false && row.bits_per_byte != null);
  const ends = shown.flatMap((row) => row.interval ?? [row.bits_per_byte]).filter((each) => each != null);
  const [low, high] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
  return scaleLinear([low, high === low ? low + 1 : high], [6, WIDTH - 6]);
}

/** The values of that scale, over the column. */
function Axis({ at }) {
  return html`<svg class="whisker" width=${WIDTH} height="14" aria-hidden="true">${at.ticks(3).map((each) => html`<text class="mark" x=${at(each)} y="11"
    text-anchor=${at(each) < 15 ? "start" : at(each) > WIDTH - 15 ? "end" : "middle"}>${tick(each)}</text>`)}</svg>`;
}

function Whisker({ row, at, look }) {
  if (row.comparable === false || row.bits_per_byte == null) return null;
  const [low, high] = row.interval ?? [row.bits_per_byte, row.bits_per_byte];
  return html`<svg class="whisker" width=${WIDTH} height="18" role="img"
    aria-label=${row.interval ? `${digits(low)} to ${digits(high)}` : "no interval"} style=${`color:${look.color}`}>
    ${at.ticks(3).map((each) => html`<line class="grid" x1=${at(each)} x2=${at(each)} y1="0" y2="18" />`)}
    <line class="reach" x1=${at(low)} x2=${at(high)} y1="9" y2="9" /><circle cx=${at(row.bits_per_byte)} cy="9" r="4" />
    <title>${row.interval ? `${digits(row.bits_per_byte)}, 95 % interval ${digits(low)} to ${digits(high)}` : digits(row.bits_per_byte)}</title></svg>`;
}

function Seeds({ rows }) {
  const several = rows.filter((row) => row.seeds?.length > 1);
  return several.length > 0 && html`<div class="quiet small">Bits per byte of each seed:<ul class="seeds">${several.map((row) => html`<li>${row.name}:
    <span class="number">${" "}${row.seeds.map((each) => digits(each.bits_per_byte)).join(", ")}${row.spread != null && ` (±${digits(row.spread)})`}</span></li>`)}</ul></div>`;
}

function Weights({ rows }) {
  const mixed = rows.filter((row) => row.weights && Object.keys(row.weights).length);
  return mixed.map((row) => html`<p class="quiet small">The ${row.name} is
    <span class="number">${" "}${Object.entries(row.weights).sort((a, b) => b[1] - a[1]).map(([name, share]) => `${percent(share)} ${name}`).join(", ")}</span>.</p>`);
}
