// What `chainrule inspect --gradients` shows: how far gradients reach, and how large each layer's are.
import { html } from "../html.js";
import { palette } from "../palette.js";
import { Figure, Section } from "../pieces.js";
import { LineChart } from "../plots/line.js";
import { Lying } from "../plots/lying.js";
import { Table } from "../plots/table.js";
import { power, digits } from "../format.js";
import "./inspect/inspect.css";

const norm = (value) => (value == null ? "–" : value === 0 || (value >= 0.001 && value < 1e4) ? String(Number(value.toPrecision(3))) : value.toExponential(1));

export default function Gradients({ data, title }) {
  const looks = palette([...new Set(data.charts.flatMap((chart) => names(chart)))]);
  return html`<header class="inspect-head"><h1>${title}</h1>
      <p class="quiet">Norms of gradients, averaged over windows of the text, on a logarithmic scale: a line that falls steeply is a gradient that vanishes.</p></header>
    ${data.charts.map((chart, n) => html`<${Section} id=${`chart-${n}`} title=${chart.title}>
      <${Figure} numbers=${numbers(chart)}>${chart.bars
        ? html`<${Lying} values=${chart.values} looks=${looks} label=${chart.y_label} format=${norm} />`
        : html`<${LineChart} yLog=${true} height=${340} xLabel=${chart.x_label} yLabel=${chart.y_label} yFormat=${norm} xTick=${entire}
            label=${chart.title} series=${chart.lines.map((line) => ({ ...line, ...looks.get(line.name) }))} />`}<//>
    <//>`)}
    <${Models} models=${data.models} />`;
}

const entire = (value) => (Number.isInteger(value) ? String(value) : ""); // there is nothing between two layers
const names = (chart) => (chart.bars ? Object.keys(chart.values) : chart.lines.map((line) => line.name));

function numbers(chart) {
  if (chart.bars) return { head: ["", chart.y_label], rows: Object.entries(chart.values).map(([name, value]) => [name, norm(value)]) };
  const places = [...new Set(chart.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  return { head: [chart.x_label, ...names(chart)], rows: places.map((x) => [x, ...chart.lines.map((line) => norm(line.y[line.x.indexOf(x)]))]) };
}

function Models({ models }) {
  const column = (key, label, value, format) => ({ key, label, numeric: true, value, render: (row) => format(value(row)) });
  const columns = [{ key: "name", label: "model", value: (row) => row.name, render: (row) => row.name },
    column("loss", "loss, nats", (row) => row.loss, (value) => digits(value, 3)),
    column("norm", "norm", (row) => row.norm, norm),
    column("clip", "clipped at", (row) => row.clip, (value) => (value == null ? "not" : power(value))),
    column("clipped", "norm after", (row) => row.clipped, norm)];
  return html`<${Section} id="models" title="Clipping" caption="The norm of all parameters' gradient together, before and after clipping as in training.">
    <${Table} columns=${columns} rows=${models} caption="Norms before and after clipping" /><//>`;
}
