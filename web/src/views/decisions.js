// Why a classifier gave texts their labels, and where it goes wrong on labeled texts.
import { useState } from "preact/hooks";
import { digits, signed, whole } from "../format.js";
import { html } from "../html.js";
import { Figure, Section, Switch } from "../pieces.js";
import { Bars } from "../plots/bars.js";
import { HeatMap } from "../plots/heatmap.js";
import { Table } from "../plots/table.js";
import { ColoredText } from "../plots/text.js";
import "./decisions/decisions.css";

const [FOR, AGAINST] = ["var(--series-0)", "var(--series-1)"];
const FEATURES = 40;

export default function Decisions({ data, title }) {
  return html`<header class="head"><p class="eyebrow">chainrule inspect</p><h1>${title}</h1>
      <p class="quiet">${`A text classifier of ${whole(data.labels)} labels.`}</p></header>
    ${data.texts.map((each, n) => html`<${Decision} key=${n} number=${n} each=${each} />`)}
    ${data.labeled && html`<${Confusions} found=${data.labeled} /><${Wrong} found=${data.labeled} />`}`;
}

function Decision({ each, number }) {
  const exact = each.features != null;
  const [by, setBy] = useState(exact ? "adds" : "without");
  const [selected, select] = useState(null);
  const most = Math.max(1e-9, ...each.tokens.map((token) => Math.abs(token[by] ?? 0)));
  const segments = each.tokens.map((token, n) => ({ text: n ? ` ${token.text}` : token.text,
    color: (token[by] ?? 0) >= 0 ? FOR : AGAINST, strength: Math.abs(token[by] ?? 0) / most }));
  const caption = by === "adds" ? `What each word and its n-grams add to ln p(${each.label}) − ln p(${each.runner_up}); an n-gram's part is split among its words.`
    : `How much ln p(${each.label}) falls when the word is left out.`;
  const chosen = selected == null ? null : each.tokens[selected];
  return html`<${Section} id=${`text-${number}`} title=${each.label} caption=${`The label of this text, with p = ${digits(each.labels[0].probability, 4)}.`}>
    ${exact && html`<div class="controls"><${Switch} label="Color by" options=${[["adds", "what a word adds"], ["without", "what its absence takes"]]} value=${by} onChange=${setBy} /></div>`}
    <p class="caption">${caption} <span class="decision-for">For ${each.label}</span>, <span class="decision-against">against it</span>.</p>
    <${ColoredText} segments=${segments} selected=${selected} onSelect=${select} label="The text" />
    <p class="quiet" aria-live="polite">${chosen ? `${chosen.text}: ${chosen.adds == null ? "" : `adds ${signed(chosen.adds)}, `}${chosen.without == null ? "" : `without it ln p falls by ${signed(chosen.without)}`}` : "Point at a word for its numbers."}</p>
    <div class="pair">
      <${Figure} title="Labels" caption="Their probabilities, the likeliest first." numbers=${{ head: ["label", "p", "ln p"], rows: each.labels.map((own) => [own.label, digits(own.probability, 4), digits(own.log_probability, 3)]) }}>
        <${Bars} labels=${each.labels.map((own) => own.label)} series=${[{ name: "p", color: FOR, values: each.labels.map((own) => own.probability) }]} yLabel="probability" format=${(value) => digits(value, 3)} /><//>
      ${exact && html`<${Figure} title="Features" caption=${each.evidence === "exact" ? `The weightiest of ${whole(each.features.length)}; all of them add up to ${signed(each.margin)} where labels share one softmax.` : `The weightiest of ${whole(each.features.length)} by ${each.evidence}: their share of ${signed(each.margin)}, to first order.`}>
        <${Table} caption="Features" rows=${each.features.slice(0, FEATURES).map((row) => ({ ...row, name: `${row.kind} ${row.text}` }))} columns=${[
          { key: "text", label: "Feature", value: (row) => row.text, render: (row) => row.text },
          { key: "kind", label: "Kind", value: (row) => row.kind, render: (row) => row.kind },
          { key: "times", label: "Times", numeric: true, descends: true, value: (row) => row.times, render: (row) => whole(row.times) },
          { key: "adds", label: "Adds", numeric: true, descends: true, value: (row) => row.adds, render: (row) => signed(row.adds) }]} /><//>`}
    </div>
  <//>`;
}

function Confusions({ found }) {
  const caption = `Rows are true labels, columns the labels given. ${whole(found.right)} of ${whole(found.texts)} texts of ${found.data} are right (${digits(found.accuracy, 4)}).`
    + (found.of > found.labels.length ? ` Of ${whole(found.of)} labels, the ${whole(found.labels.length)} with the most mistakes.` : "");
  const most = Math.max(1, ...found.matrix.flat());
  return html`<${Section} id="confusions" title="Which labels are confused" caption=${caption}>
    <${HeatMap} values=${found.matrix} rowLabels=${found.labels} columnLabels=${found.labels} rowTitle="true" columnTitle="given"
      range=${[0, most]} format=${whole} cell=${28} label="Confusion matrix" />
    ${found.pairs.length > 0 && html`<${Table} caption="Most frequent confusions" rows=${found.pairs.map((pair) => ({ ...pair, name: `${pair.true} ${pair.given}` }))} columns=${[
      { key: "true", label: "True label", value: (row) => row.true, render: (row) => row.true },
      { key: "given", label: "Given label", value: (row) => row.given, render: (row) => row.given },
      { key: "count", label: "Texts", numeric: true, descends: true, value: (row) => row.count, render: (row) => whole(row.count) }]} />`}<//>`;
}

function Wrong({ found }) {
  if (!found.wrong.length) return null;
  return html`<${Section} id="wrong" title="Most wrong" caption="The texts whose own label was least likely: mistakes of the model, or of the labels.">
    <${Table} caption="Most wrong texts" rows=${found.wrong.map((row) => ({ ...row, name: `${row.source}:${row.line}` }))} columns=${[
      { key: "text", label: "Text", value: (row) => row.text, render: (row) => row.text },
      { key: "true", label: "Label", value: (row) => row.labels.join(", "), render: (row) => row.labels.join(", ") },
      { key: "given", label: "Given", value: (row) => row.given, render: (row) => `${row.given} ${digits(row.probability, 3)}` },
      { key: "log", label: "ln p", numeric: true, value: (row) => row.log_probability, render: (row) => (row.log_probability == null ? "never seen" : digits(row.log_probability, 2)) },
      { key: "line", label: "Line", numeric: true, value: (row) => row.line, render: (row) => whole(row.line) }]} /><//>`;
}
