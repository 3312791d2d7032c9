// The report of `chainrule compare` where models are ranked by a measure of their task: the answer, then its evidence.
import { bytes, digits, seconds, signed, whole } from "../format.js";
import { html } from "../html.js";
import { palette } from "../palette.js";
import { Command, Section } from "../pieces.js";
import { Dot } from "../plots/legend.js";
import { Table } from "../plots/table.js";
import { Axis, scaled, Whisker } from "./ranking/interval.js";
import "./ranking/ranking.css";

export default function Ranking({ data, title }) {
  const { report, recipes } = data;
  const looks = palette(report.rows.map((row) => row.name));
  return html`<${Head} report=${report} next=${data.next} title=${title} />
    <${Rows} report=${report} looks=${looks} />
    ${Object.keys(data.grid).length > 0 && html`<${Section} id="grid" title="Along the grid">
      ${Object.entries(data.grid).map(([option, svg]) => html`<img class="ranking-grid" alt=${`${report.measure.label} by ${option}`}
        src=${`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`} />`)}<//>`}
    <${Pairs} report=${report} />
    <${Section} id="recipes" title="Recipes" caption="Each model's recipe with all its options: a file to train it again.">
      ${Object.entries(recipes).map(([name, text]) => html`<details><summary>${name}</summary><${Command} text=${text} /></details>`)}
    <//>
    ${report.notes.length > 0 && html`<${Section} id="notes" title="Notes"><ul>${report.notes.map((note) => html`<li>${note}</li>`)}</ul><//>`}`;
}

function Head({ report, next, title }) {
  const { data, budget, measure, units } = report;
  const facts = [["Data", data.spec.join(", ")], ["Measure", `${measure.label}, ${measure.higher_is_better ? "higher" : "lower"} is better`],
    ["Measured on", `${whole(data.compared_units)} ${units}`], ["Budget", `${whole(budget.amount)} ${budget.kind} for each training`],
    ["Seeds", String(report.seeds.length)]];
  return html`<header class="head">
    <p class="eyebrow">chainrule compare</p>
    <h1>${title}</h1>
    ${report.advice.length > 0 && html`<div class="advice" id="advice">${report.advice.map((each) => html`<p>${each}</p>`)}</div>`}
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <div class="again">
      ${report.best && html`<div><p>Use the best model</p>${next.slice(0, 2).map((each) => html`<${Command} text=${each} />`)}</div>`}
      <div><p>Run this comparison again</p><${Command} text=${report.command} /></div>
    </div>
  </header>`;
}

function Rows({ report, looks }) {
  const { measure, beside, rows } = report;
  const at = scaled(rows);
  const columns = [
    { key: "name", label: "Model", value: (row) => row.name,
      render: (row) => html`<span class="name"><${Dot} ...${looks.get(row.name)} /><span>${row.name}</span></span>` },
    { key: "value", label: measure.label, numeric: true, descends: measure.higher_is_better, value: (row) => row.value,
      render: (row) => row.value == null ? "none" : `${digits(row.value, measure.digits)}${row.spread == null ? "" : ` ±${digits(row.spread, measure.digits)}`}` },
    { key: "interval", label: "95 % interval", head: html`<${Axis} at=${at} />`, value: (row) => row.value,
      render: (row) => html`<${Whisker} row=${row} at=${at} look=${looks.get(row.name)} places=${measure.digits} />` },
    ...Object.entries(beside).map(([key, each]) => ({ key: `beside-${key}`, label: each.label, numeric: true,
      value: (row) => row.beside[key], render: (row) => (row.beside[key] == null ? "" : digits(row.beside[key], each.digits)) })),
    { key: "training", label: "Training", numeric: true, value: (row) => row.measured.training_seconds,
      render: (row) => (row.measured.training_seconds == null ? "" : seconds(row.measured.training_seconds)) },
    { key: "disk", label: "Disk", numeric: true, value: (row) => row.disk_bytes,
      render: (row) => (row.disk_bytes == null ? "" : bytes(row.disk_bytes)) },
  ];
  const caption = `${measure.label} on the same ${whole(report.data.compared_units)} ${report.units} for all, none of them learned from.`;
  return html`<${Section} id="rows" title="All models" caption=${caption}>
    <${Table} columns=${columns} rows=${rows} caption="All models" sort=${["value", measure.higher_is_better]}
      wide=${(row) => row.status === "failed" && `failed: ${row.why}`} /><//>`;
}

function Pairs({ report }) {
  if (!report.pairs.length) return null;
  const places = report.measure.digits;
  const columns = [
    { key: "pair", label: "Pair", value: (pair) => pair.name, render: (pair) => pair.name },
    { key: "difference", label: "Difference", numeric: true, value: (pair) => pair.difference, render: (pair) => signed(pair.difference, places) },
    { key: "interval", label: "95 % interval", numeric: true, value: (pair) => pair.low,
      render: (pair) => (pair.low == null ? "" : `${signed(pair.low, places)} to ${signed(pair.high, places)}`) },
    { key: "p", label: "p, corrected", numeric: true, value: (pair) => pair.p_holm, render: (pair) => digits(pair.p_holm, 4) },
    { key: "verdict", label: "Significant", value: (pair) => String(pair.significant), render: (pair) => (pair.significant ? "yes" : "no") },
  ];
  const rows = report.pairs.map((pair) => ({ ...pair, name: `${pair.a} − ${pair.b}` }));
  return html`<${Section} id="differences" title="Which differences count" caption=${`Paired permutation test over ${report.units}; p is corrected for the number of pairs (Holm), intervals are by the paired bootstrap.`}>
    <${Table} columns=${columns} rows=${rows} caption="Differences" look=${(pair) => (pair.significant ? "" : "quiet")} /><//>`;
}
