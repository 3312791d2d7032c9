// The table of all rows: bits per byte with its interval, and what each model costs.
import { bytes, digits, percent, power, seconds, short } from "../../format.js";
import { html } from "../../html.js";
import { Section } from "../../pieces.js";
import { Dot } from "../../plots/legend.js";
import { Table } from "../../plots/table.js";
import { Axis, Whisker, beyond, place } from "./whisker.js";

const ALWAYS = ["name", "bits", "interval"]; // other columns are left out where no row has a value
const CAPTION = html`Lower is better: bits needed to predict one byte of held-out text, 8 without any model. The line
  around a dot is the 95 % interval.<span class="no-print"> A click on a heading sorts.</span>`;
const LOSSY = `Not comparable: the tokenizer loses some of the text (unseen words become one sign), so that less than
  the text is predicted.`;
const COMPRESSORS = `file compressors that everyone has, which read the training text first; the mark that a model should
  beat.`;

export function Rows({ report, looks }) {
  const { rows, best } = report;
  const at = place(rows);
  const columns = [...quality(at, best, looks), ...costs()];
  const shown = columns.filter(({ key, value }) => ALWAYS.includes(key) || rows.some((row) => value(row) != null));
  const fine = rows.filter((row) => row.status !== "failed");
  const compressors = rows.filter((row) => row.kind === "compressor");
  return html`<${Section} id="rows" title="All models" caption=${CAPTION}>
    <${Table} columns=${shown} rows=${rows} sort=${["bits", false]} caption="Table of all models"
      look=${(row) => `${row.kind} ${row.status} ${row.name === best ? "best" : ""}`}
      wide=${(row) => row.status === "failed" && html`<span class="why">Failed. ${row.why ?? ""}</span>`} />
    <${Cut} rows=${beyond(rows, at)} />
    ${fine.some((row) => row.comparable === false) && html`<p class="quiet small">${LOSSY}</p>`}
    ${compressors.length > 0 && html`<p class="quiet small">${names(compressors)}: ${COMPRESSORS}</p>`}
    ${fine.filter((row) => row.why).map((row) => html`<p class="quiet small"><b>${row.name}</b>: ${row.why}</p>`)}
    <${Seeds} rows=${rows} />
    <${Weights} rows=${rows} />
  <//>`;
}

/** Says which rows the axis of intervals has no room for. */
function Cut({ rows }) {
  return rows.length > 0 && html`<p class="quiet small" id="cut">The axis of intervals is cut, so that intervals can be
    seen: ${names(rows)} ${rows.length === 1 ? "lies" : "lie"} beyond it, at the arrow.</p>`;
}

const names = (rows) => rows.map((row) => row.name).join(", ");

/** The columns that say what a row is and how good it is. */
function quality(at, best, looks) {
  return [
    { key: "name", label: "Model", value: (row) => row.name,
      render: (row) => html`<${Name} row=${row} look=${looks.get(row.name)} best=${best} />` },
    { key: "bits", label: "Bits per byte", title: "Bits needed to predict one byte of held-out text", numeric: true,
      value: (row) => (row.comparable === false ? null : row.bits_per_byte),
      render: (row) => html`<${Bits} row=${row} />` },
    { key: "interval", label: "95 % interval", head: html`<${Axis} at=${at} />`,
      title: "Where bits per byte would lie for other text of this kind, 95 times of 100",
      value: (row) => row.interval?.[1] ?? null,
      render: (row) => html`<${Whisker} row=${row} at=${at} look=${looks.get(row.name)} />` },
  ];
}

/** The columns that say what a row costs. */
function costs() {
  const measured = (key) => (row) => row.measured?.[key] ?? null;
  const own = (key) => (row) => row[key] ?? null;
  const column = (key, label, title, value, format, descends) =>
    ({ key, label, title, numeric: true, value, render: (row) => format(value(row)), descends });
  return [
    column("time", "Training", "Time spent training", measured("training_seconds"), seconds),
    column("speed", "Tokens/s", "Training tokens read in a second", measured("tokens_per_second"), short, true),
    column("parameters", "Parameters", "Numbers that were learned", own("parameters"), short),
    column("flops", "FLOPs", "Arithmetic spent on training", own("flops"), power),
    column("memory", "Memory", "The most memory that training needed", measured("peak_memory"), bytes),
    column("disk", "On disk", "Size of the saved model", own("disk_bytes"), bytes),
    column("writing", "Writes/s", "Tokens written in a second", measured("generation_tokens_per_second"), short, true),
  ];
}

function Name({ row, look, best }) {
  return html`<span class="name"><${Dot} ...${look} /><span>${row.name}</span>
    ${row.name === best && html`<span class="tag good">best</span>`}
    ${["compressor", "mixture"].includes(row.kind) && html`<span class="tag">${row.kind}</span>`}</span>`;
}

function Bits({ row }) {
  if (row.comparable !== false) return digits(row.bits_per_byte);
  return html`<span class="quiet">not comparable
    ${row.perplexity != null && html`<br />perplexity ${digits(row.perplexity, 1)}`}
    ${row.perplexity_interval && html`<br />95 % interval ${row.perplexity_interval.map((end) => digits(end, 1))
      .join(" to ")}`}</span>`;
}

function Seeds({ rows }) {
  const several = rows.filter((row) => row.seeds?.length > 1 && row.comparable !== false);
  const told = ({ seeds, spread }) => seeds.map((each) => digits(each.bits_per_byte)).join(", ")
    + (spread == null ? "" : ` (±${digits(spread)})`);
  return several.length > 0 && html`<div class="quiet small">Bits per byte of each seed:
    <ul class="seeds">${several.map((row) => html`<li class="number">${row.name}: ${told(row)}</li>`)}</ul></div>`;
}

function Weights({ rows }) {
  const mixed = rows.filter((row) => row.weights && Object.keys(row.weights).length);
  const told = (weights) => Object.entries(weights).sort((a, b) => b[1] - a[1])
    .map(([name, share]) => `${percent(share)} ${name}`).join(", ");
  return mixed.map((row) => html`<p class="quiet small number">The ${row.name} is ${told(row.weights)}.</p>`);
}
