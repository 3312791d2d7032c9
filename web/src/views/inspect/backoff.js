// Of an n-gram model: which order answered for each token, and what was paid for leaving longer contexts.
import { mean } from "d3-array";
import { html } from "../../html.js";
import { look } from "../../palette.js";
import { Section } from "../../pieces.js";
import { Bars } from "../../plots/bars.js";
import { visible } from "../../plots/heatmap.js";
import { Table } from "../../plots/table.js";
import { bits, joined, probability } from "./tokens.js";

export function BackOff({ id, of, part, data }) {
  const rows = part.tokens.map((each, n) => ({ ...each, name: String(n + 1), number: n + 1, token: data.tokens[n] }));
  const spaced = data.spaced;
  const columns = [
    { key: "number", label: "token", value: (row) => row.number, render: (row) => html`<span class="quiet number">${row.number}</span> <code>${visible(row.token.text)}</code>` },
    { key: "bits", label: "bits", numeric: true, descends: true, value: (row) => row.token.surprisal ?? Infinity, render: (row) => bits(-Math.log2(row.probability)) },
    { key: "order", label: "order", numeric: true, descends: true, title: "the length of the longest n-gram of the table that ends in this token",
      value: (row) => row.order, render: (row) => row.order },
    { key: "path", label: "path", title: "p is the product of all of it", value: (row) => row.left.length, render: (row) => html`<${Path} row=${row} spaced=${spaced} />` },
  ];
  const orders = part.orders.map((_, n) => n + 1);
  const surprise = orders.map((order) => mean(rows.filter((row) => row.order === order), (row) => -Math.log2(row.probability)));
  return html`<${Section} id=${id} title=${`Back-off${of}`}
    caption="The model looks for the longest n-gram it has stored that ends in the token. Each context it has to leave costs a factor γ; contexts it never saw cost nothing.">
    <${Bars} labels=${orders.map((order) => `order ${order}`)} xLabel="order that answered" yLabel="tokens" height=${200}
      below=${surprise.map((each) => (each == null ? "" : `${bits(each)} bits each`))} format=${(value) => String(value)}
      series=${[{ name: "tokens answered", ...look(0), values: part.orders }]} />
    <div class="tall"><${Table} columns=${columns} rows=${rows} caption="Order and back-off path of each token" /></div>
  <//>`;
}

function Path({ row, spaced }) {
  return html`<span class="path">${row.left.map((step) => html`<span class=${step.weight == null ? "step never" : "step"}>
      ${step.weight == null ? "never saw" : "γ"} <code>${context(step.context, spaced)}</code> ${step.weight == null ? "" : probability(step.weight)}</span>`)}
    <span class="step stored">p <code>${row.context.length ? `${context(row.context, spaced)} → ` : ""}${visible(row.token.text)}</code> ${probability(row.stored)}</span></span>`;
}

const context = (words, spaced) => (spaced ? words.map(visible).join(" ") : visible(joined(words, spaced)));
