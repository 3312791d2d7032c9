// Which tokens the model has put near the tokens of the text.
import { html } from "../../html.js";
import { digits } from "../../format.js";
import { Section } from "../../pieces.js";
import { visible } from "../../plots/heatmap.js";
import { Table } from "../../plots/table.js";

export function Neighbors({ id, of, part }) {
  const rows = part.map((each) => ({ ...each, name: String(each.id) }));
  const columns = [
    { key: "text", label: "token", value: (row) => row.text, render: (row) => html`<code>${visible(row.text)}</code>` },
    { key: "nearest", label: "nearest", numeric: true, descends: true, title: "the cosine of the nearest", value: (row) => row.near[0]?.cosine, render: (row) => digits(row.near[0]?.cosine, 2) },
    { key: "near", label: "neighbors, nearest first", value: (row) => row.near[0]?.text, render: (row) => html`<span class="path">${row.near.map((other) => html`<span
      class="step"><code>${visible(other.text)}</code> ${digits(other.cosine, 2)}</span>`)}</span>` },
  ];
  return html`<${Section} id=${id} title=${`Neighbors of embeddings${of}`}
    caption="For each token of the text, the tokens whose vectors point most nearly the same way (cosine).">
    <div class="tall"><${Table} columns=${columns} rows=${rows} caption="Nearest tokens by embedding" /></div>
  <//>`;
}
