// Where the bits go: by position in the document, by frequency of the word, by document.
import { digits, percent, tick, whole } from "../../format.js";
import { html } from "../../html.js";
import { Figure, Section } from "../../pieces.js";
import { Bars } from "../../plots/bars.js";
import { LineChart } from "../../plots/line.js";
import { inOrder } from "./looks.js";

const BARS = 8; // more documents than this are dots
const CROWD = 80; // more documents than this stand so close that dots are not set beside each other
const dots = (piece) => `A dot is one held-out ${piece}, the easiest at the left. Where the colors change places, so
  does the best model.`;
const BITS = "bits per byte";
const hundredths = (value) => digits(value, 2);

export function Breakdowns({ details, looks }) {
  const { by_position: position, by_document: documents, by_frequency: frequency } = details;
  if (!position && !frequency && !documents) return null;
  return html`<${Section} id="breakdowns" title="Where the bits go"
    caption="Lower is better in all three: bits needed to predict one byte.">
    <div class="pair">
      ${position && html`<${Position} by=${position} looks=${looks} />`}
      ${documents?.labels?.length > 0 && html`<${Documents} by=${documents} looks=${looks} />`}
      ${frequency && html`<${Frequency} by=${frequency} looks=${looks} />`}
    </div><//>`;
}

function Position({ by: { edges, unit = "tokens", values }, looks }) {
  const middle = edges.slice(0, -1).map((edge, n) => Math.sqrt(Math.max(edge, edges[1] / 4) * edges[n + 1]));
  const series = inOrder(looks, values).map(({ it, ...look }) => ({ ...look, x: middle.slice(0, it.length), y: it }));
  const spans = middle.map((_, n) => `${unit} ${whole(edges[n])} to ${whole(edges[n + 1])}`);
  return html`<${Figure} title="By position in the document" numbers=${numbers("position", spans, series, "y")}
    caption="A line that goes on falling shows a model that uses what it has read long before.">
    <${LineChart} series=${series} xLog=${middle.length > 2} xLabel=${`${unit} since the document began`} yLabel=${BITS}
      describe=${(x) => spans[middle.indexOf(x)]} yFormat=${hundredths} xFormat=${tick} height=${280} /><//>`;
}

function Frequency({ by: { labels, shares, values }, looks }) {
  const series = inOrder(looks, values).map(({ it, ...look }) => ({ ...look, values: it }));
  return html`<${Figure} wide title="By frequency of the word" numbers=${numbers("seen", labels, series, "values")}
    caption="How often a word stands in the training text; below it, the share of the held-out bytes in such words.">
    <${Bars} labels=${labels.map((label) => label.replace(" or more", "+"))} series=${series}
      below=${shares?.map((share) => percent(share))} xLabel="times seen in training" yLabel=${BITS} /><//>`;
}

function Documents({ by: { labels, bytes = [], values, piece = "document" }, looks }) {
  const models = inOrder(looks, values);
  const order = labels.map((_, n) => n).sort((a, b) => mean(models, a) - mean(models, b));
  const titles = order.map((n) => `${labels[n]} (${whole(bytes[n])} bytes)`);
  const sorted = models.map(({ it, ...look }) => ({ ...look, values: order.map((n) => it[n]) }));
  const table = numbers(piece, titles, sorted, "values");
  if (order.length <= BARS) {
    return html`<${Figure} title=${`By ${piece}`} numbers=${table}
      caption=${`Each held-out ${piece}, the easiest first.`}>
      <${Bars} labels=${order.map((n) => labels[n])} below=${order.map((n) => `${whole(bytes[n])} B`)} series=${sorted}
        xLabel=${piece} yLabel=${BITS} /><//>`;
  }
  const aside = (m) => (order.length > CROWD ? 0 : 0.4 * ((m + 0.5) / models.length - 0.5)); // so that no dot hides one
  const series = sorted.map((each, m) => ({ ...each, points: true, y: each.values,
    x: order.map((_, n) => n + 1 + aside(m)) }));
  return html`<${Figure} title=${`By ${piece}`} numbers=${table} caption=${dots(piece)}>
    <${LineChart} series=${series} xLabel=${`${piece}s, the easiest first`} yLabel=${BITS} yFormat=${hundredths}
      xFormat=${(value) => (Number.isInteger(value) ? whole(value) : "")} describe=${(x) => titles[Math.round(x) - 1]}
      height=${280} /><//>`;
}

function mean(models, n) {
  const known = models.map(({ it }) => it[n]).filter((each) => each != null);
  return known.reduce((a, b) => a + b, 0) / (known.length || 1);
}

/** The table under a chart: a row for each label, a column for each series. */
function numbers(first, labels, series, key) {
  const rows = labels.map((label, n) => [label, ...series.map((each) => digits(each[key][n]))]);
  return { head: [first, ...series.map((each) => each.name)], rows };
}
