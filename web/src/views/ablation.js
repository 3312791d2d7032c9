// The report of `chainrule ablate`: the answer in words, then every variant held against the base.
import { scaleLinear } from "d3-scale";
import { useState } from "preact/hooks";
import { digits, power, seconds, short, signed, tick, whole } from "../format.js";
import { html } from "../html.js";
import { palette } from "../palette.js";
import { Command, Figure, Section, Switch } from "../pieces.js";
import { Dot } from "../plots/legend.js";
import { LineChart } from "../plots/line.js";
import { Table } from "../plots/table.js";
import { Axis, Whisker } from "./ranking/interval.js";
import { AXES, worth } from "./report/curves.js";
import "./ranking/ranking.css";
import "./ablation/ablation.css";

const [WIDTH, EDGE] = [160, 6];

export default function Ablation({ data, title }) {
  const { report, curves, recipes } = data;
  const looks = palette(report.rows.map((row) => row.name));
  return html`<${Head} report=${report} title=${title} />
    <${Rows} report=${report} looks=${looks} />
    ${report.combined.length > 0 && html`<${Combined} report=${report} />`}
    <${Curves} report=${report} curves=${curves} looks=${looks} />
    ${report.search && html`<${Search} report=${report} />`}
    <${Section} id="recipes" title="Recipes" caption="Each variant's recipe with all its options: a file to train it again.">
      ${Object.entries(recipes).map(([name, text]) => html`<details><summary>${name}</summary><${Command} text=${text} /></details>`)}
    <//>
    ${report.notes.length > 0 && html`<${Section} id="notes" title="Notes"><ul>${report.notes.map((note) => html`<li>${note}</li>`)}</ul><//>`}`;
}

function Head({ report, title }) {
  const { data, budget, measure } = report;
  const facts = [["Data", data.spec.join(", ")], ["Base", report.base],
    ["Measure", `${measure.label}, ${measure.higher_is_better ? "higher" : "lower"} is better`],
    ["Budget", `${whole(budget.amount)} ${budget.kind} for each training`], ["Seeds", String(report.seeds.length)],
    ["Variants", String(report.rows.length - 1)]];
  return html`<header class="head">
    <p class="eyebrow">chainrule ablate</p>
    <h1>${title}</h1>
    <div class="advice" id="answer">${report.answer.map((each) => html`<p>${each}</p>`)}</div>
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <div class="again"><div><p>Run this again</p><${Command} text=${report.command} /></div></div>
  </header>`;
}

/** Differences of all variants on one scale, on which 0 is the base. */
function scaled(rows) {
  const ends = rows.filter((row) => row.effect).flatMap(({ effect }) => [effect.difference, effect.low, effect.high])
    .filter((each) => each != null);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  return scaleLinear([low, high === low ? low + 1 : high], [EDGE, WIDTH - EDGE]);
}

function Rows({ report, looks }) {
  const { measure, rows } = report;
  const [places, at] = [measure.digits, scaled(rows)];
  const number = (key, label, value, format, title) => ({ key, label, title, numeric: true, value,
    render: (row) => (value(row) == null ? "" : format(value(row))) });
  const effect = (key) => (row) => row.effect?.[key] ?? null;
  const columns = [
    { key: "name", label: "Variant", value: (row) => row.name,
      render: (row) => html`<span class="name"><${Dot} ...${looks.get(row.name)} /><span>${row.name}</span></span>` },
    { key: "verdict", label: "Verdict", value: (row) => row.effect?.verdict ?? null, render: (row) => verdict(report, row) },
    number("parameters", "Parameters", (row) => row.parameters, short),
    number("flops", "FLOPs/token", (row) => row.flops_per_token, short),
    number("speed", "Steps/s", (row) => row.measured.steps_per_second, tick),
    number("early", "Early", (row) => row.early, (value) => digits(value), `${report.curves_of} at an eighth of the budget`),
    { key: "value", label: measure.label, numeric: true, descends: measure.higher_is_better, value: (row) => row.value,
      render: (row) => row.value == null ? "none" : `${digits(row.value, places)}${row.spread == null ? "" : ` ±${digits(row.spread, places)}`}` },
    { ...number("difference", "Difference", effect("difference"), (value) => signed(value, places)), descends: measure.higher_is_better },
    { key: "interval", label: "95 % interval", head: html`<${Axis} at=${at} />`, value: effect("difference"),
      render: (row) => row.effect && html`<${Whisker} at=${at} look=${looks.get(row.name)} places=${places}
        row=${{ value: row.effect.difference, interval: row.effect.low == null ? null : [row.effect.low, row.effect.high] }} />` },
    number("p", "p, corrected", effect("p_holm"), (value) => (value < 0.001 ? "<0.001" : digits(value)), "by Holm's method, for the number of variants"),
    number("gain", "Per FLOP", (row) => row.gain_at_equal_flops, (value) => signed(value), "how much lower the curve is where both have spent the same FLOPs"),
    ...(report.search ? [number("rate", "Rate", (row) => row.rate, (value) => String(Number(value.toPrecision(3))))] : []),
  ];
  const caption = `Differences are from ${report.base}, over the same ${report.units} and seeds; ${measure.higher_is_better ? "more" : "less"} is better.`;
  return html`<${Section} id="rows" title="All variants" caption=${caption}>
    <${Table} columns=${columns} rows=${rows} caption="All variants" look=${(row) => (row.effect?.verdict === "noise" ? "quiet" : "")}
      wide=${(row) => row.status === "failed" && `failed: ${row.why}`} /><//>`;
}

function verdict(report, row) {
  const said = row.name === report.base ? "base" : row.effect?.verdict ?? "";
  return html`<span class=${`verdict ${said}`}>${said}</span>`;
}

function Combined({ report }) {
  const places = report.measure.digits;
  const rows = report.combined.map((pair) => ({ ...pair, name: pair.changes.join(" and ") }));
  const columns = [
    { key: "pair", label: "Changes", value: (pair) => pair.name, render: (pair) => pair.name },
    { key: "together", label: "Together", numeric: true, value: (pair) => pair.together, render: (pair) => signed(pair.together, places) },
    { key: "sum", label: "Sum of both alone", numeric: true, value: (pair) => pair.sum, render: (pair) => signed(pair.sum, places) },
    { key: "rest", label: "Together − sum", numeric: true, value: (pair) => pair.together - pair.sum, render: (pair) => signed(pair.together - pair.sum, places) },
    { key: "interval", label: "95 % interval", numeric: true, value: (pair) => pair.low,
      render: (pair) => (pair.low == null ? "" : `${signed(pair.low, places)} to ${signed(pair.high, places)}`) },
  ];
  return html`<${Section} id="combined" title="Do they add up?" caption="What two changes do together, and the sum of what each does alone. An interval around 0: they add up.">
    <${Table} columns=${columns} rows=${rows} caption="Pairs of changes" /><//>`;
}

function Curves({ report, curves, looks }) {
  const named = report.rows.filter((row) => curves[row.name]).map(({ name }) => ({ name, ...looks.get(name), it: curves[name] }));
  const there = Object.keys(AXES).filter((axis) => named.some(({ it }) => it.some((point) => point[axis] > 0)));
  const [axis, setAxis] = useState(there.includes(report.budget.kind) ? report.budget.kind : there[0]);
  if (!there.length) return null;
  const series = named.map(({ it, ...look }) => ({ ...look, x: it.map((point) => point[axis]), y: it.map((point) => point.loss) }));
  const { label, format, xTick } = AXES[axis];
  const rows = named.flatMap(({ name, it }) => it.map((point) => [name, seconds(point.seconds), short(point.tokens), power(point.flops), digits(point.loss)]));
  return html`<${Section} id="curves" title="How fast each one learns" caption=${`${report.curves_of}, the mean over seeds. Lower is better, and sooner is better.`}>
    <div class="controls"><${Switch} label="Against" value=${axis} onChange=${setAxis} options=${there.map((each) => [each, AXES[each].name])} /></div>
    <${Figure} numbers=${{ head: ["variant", "time", "tokens", "FLOPs", report.curves_of], rows }}>
      <${LineChart} series=${series} xLabel=${label} yLabel=${report.curves_of} xLog=${true} xFormat=${format} xTick=${xTick}
        yFormat=${(value) => digits(value, 2)} yRange=${worth(series)} height=${340} /><//>
  <//>`;
}

function Search({ report }) {
  const { rates, cost, share } = report.search;
  const tried = [...new Set(Object.values(rates).flatMap((each) => each.tried.map(({ factor }) => factor)))].sort((a, b) => a - b);
  const columns = [
    { key: "name", label: "Variant", value: (row) => row.name, render: (row) => row.name },
    { key: "rate", label: "Rate taken", numeric: true, value: (row) => row.rate, render: (row) => String(Number(row.rate?.toPrecision(3))) },
    ...tried.map((factor) => ({ key: `x${factor}`, label: `× ${Number(factor.toPrecision(2))}`, numeric: true,
      value: (row) => row.tried.find((each) => each.factor === factor)?.loss, render: (row) => digits(row.tried.find((each) => each.factor === factor)?.loss) })),
  ];
  const caption = `Each variant was tried with several learning rates for ${Math.round(100 * share)} % of the budget, and judged by a tenth of the training data. That took ${seconds(cost.seconds)} of training.`;
  return html`<${Section} id="search" title="Learning rates" caption=${caption}>
    <${Table} columns=${columns} rows=${Object.entries(rates).map(([name, each]) => ({ name, ...each }))} caption="Learning rates" /><//>`;
}
