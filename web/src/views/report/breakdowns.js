// Where the bits go: by position in the document, by frequency of the word, by document.
import { digits, percent, tick, whole } from "../../format.js";
import { html } from "../../html.js";
import { Figure, Section } from "../../pieces.js";
import { Bars } from "../../plots/bars.js";
import { LineChart } from "../../plots/line.js";
import { inOrder } from "./looks.js";

const BARS = 8; // more documents than this are dots

export function Breakdowns({ details, looks }) {
  const parts = [Position, Documents, Frequency].map((Part) => html`<${Part} details=${details} looks=${looks} />`);
  if (!details.by_position && !details.by_frequency && !details.by_document) return null;
  return html`<${Section} id="breakdowns" title="Where the bits go" caption="Lower is better in all three: bits needed to predict one byte.">
    <div class="pair">${parts}</div><//>`;
}

function Position({ details: { by_position: by }, looks }) {
  if (!by) return null;
  const middle = by.edges.slice(0, -1).map((edge, n) => Math.sqrt(Math.max(edge, by.edges[1] / 4) * by.edges[n + 1]));
  const series = inOrder(looks, by.values).map(({ it, ...look }) => ({ ...look, x: middle.slice(0, it.length), y: it }));
  const span = (n) => `${by.unit ?? "tokens"} ${whole(by.edges[n])} to ${whole(by.edges[n + 1])}`;
  const nearest = (x) => middle.indexOf(x);
  return html`<${Figure} title="By position in the document" numbers=${numbers("position", middle.map((_, n) => span(n)), series.map((each) => [each.name, each.y]))}
    caption="A line that goes on falling shows a model that uses what it has read long before.">
    <${LineChart} series=${series} xLog=${middle.length > 2} xLabel=${`${by.unit ?? "tokens"} since the document began`} yLabel="bits per byte"
      describe=${(x) => span(Math.max(0, nearest(x)))} yFormat=${(value) => digits(value, 2)} xFormat=${tick} height=${280} /><//>`;
}

function Frequency({ details: { by_frequency: by }, looks }) {
  if (!by) return null;
  const series = inOrder(looks, by.values).map(({ it, ...look }) => ({ ...look, values: it }));
  return html`<${Figure} wide title="By frequency of the word" numbers=${numbers("seen in training", by.labels, series.map((each) => [each.name, each.values]))}
    caption="How often a word stands in the training text; below it, the share of the held-out bytes in such words.">
    <${Bars} labels=${by.labels.map((label) => label.replace(" or more", "+"))} below=${by.shares?.map((share) => percent(share))} series=${series}
      xLabel="times the word was seen in training" yLabel="bits per byte" /><//>`;
}

function Documents({ details: { by_document: by }, looks }) {
  if (!by?.labels?.length) return null;
  const models = inOrder(looks, by.values);
  const order = by.labels.map((_, n) => n).sort((a, b) => mean(models, a) - mean(models, b));
  const titles = order.map((n) => `${by.labels[n]} (${whole(by.bytes?.[n])} bytes)`);
  const sorted = models.map(({ it, ...look }) => ({ ...look, values: order.map((n) => it[n]) }));
  const given = { title: "By document", numbers: numbers("document", titles, sorted.map((each) => [each.name, each.values])) };
  if (order.length <= BARS) {
    return html`<${Figure} ...${given} caption="Each held-out document by itself, the easiest first.">
      <${Bars} labels=${order.map((n) => by.labels[n])} below=${order.map((n) => `${whole(by.bytes?.[n])} B`)} series=${sorted} xLabel="document" yLabel="bits per byte" /><//>`;
  }
  const series = sorted.map(({ values, ...look }) => ({ ...look, points: true, x: values.map((_, n) => n + 1), y: values }));
  return html`<${Figure} ...${given} caption="A dot is one held-out document, the easiest at the left. Where the colors change places, so does the best model.">
    <${LineChart} series=${series} xLabel="documents, the easiest first" yLabel="bits per byte" height=${280} yFormat=${(value) => digits(value, 2)}
      describe=${(x) => titles[x - 1]} xFormat=${(value) => (Number.isInteger(value) ? whole(value) : "")} /><//>`;
}

function mean(models, n) {
  const known = models.map(({ it }) => it[n]).filter((each) => each != null);
  return known.reduce((a, b) => a + b, 0) / (known.length || 1);
}

function numbers(first, labels, columns) {
  return { head: [first, ...columns.map(([name]) => name)], rows: labels.map((label, n) => [label, ...columns.map(([, values]) => digits(values[n]))]) };
}
