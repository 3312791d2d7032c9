// The head of the report: the answer in a few sentences, what was compared on what, and the command to run it again.
import { useEffect, useState } from "preact/hooks";
import { bytes, seconds, short, whole } from "../../format.js";
import { html } from "../../html.js";
import { Command } from "../../pieces.js";

/** The sections that there are, as links. */
function Contents() {
  const [sections, setSections] = useState([]);
  useEffect(() => {
    const found = [...document.querySelectorAll("section[id]")];
    setSections(found.map((each) => [each.id, each.querySelector("h2").textContent]));
  }, []);
  return html`<nav class="contents no-print" aria-label="Contents">
    ${sections.map(([id, text]) => html`<a href=${`#${id}`}>${text}</a>`)}</nav>`;
}

export function Header({ report, title }) {
  return html`<header class="head">
    <p class="eyebrow">chainrule compare</p>
    <h1>${title}</h1>
    ${report.advice?.length > 0 && html`<div class="advice" id="advice">
      ${report.advice.map((sentence) => html`<p>${sentence}</p>`)}</div>`}
    <dl class="facts">${facts(report).map(([name, value, more]) => html`<div><dt>${name}</dt>
      <dd>${value}${more && html`<span class="quiet">${more}</span>`}</dd></div>`)}</dl>
    <${Contents} />
    <div class="again">
      ${report.generate && html`<div><p>Use the best model</p><${Command} text=${report.generate} /></div>`}
      ${report.command && html`<div><p>Run this comparison again</p><${Command} text=${report.command} /></div>`}
    </div>
  </header>`;
}

function facts({ data = {}, budget, seeds = [], tokenizer, environment = {}, created }) {
  const machine = [environment.accelerator ?? environment.processor, environment.cores && `${environment.cores} cores`];
  return [
    ["Text", breakable([data.spec].flat().join(", ")), data.train_bytes != null && `${bytes(data.train_bytes)} to train on`],
    ["Held out", bytes(data.held_out_bytes), counted(data.held_out_pieces, data.held_out_piece)],
    ["Budget", budgeted(budget), "for each training"],
    ["Tokenizer", spelled(tokenizer), seeds.length > 1 && `${seeds.length} seeds`],
    ["Machine", machine.filter(Boolean)[0], machine.filter(Boolean)[1]],
    ["Made", created ? day(created) : null, environment.chainrule && `chainrule ${environment.chainrule}`],
  ].filter(([, value]) => value);
}

/** A path may be broken after a slash, and only there; a part that is wider than the screen is cut. */
function breakable(text) {
  return html`<span title=${text}>${text.split(/(?<=[/\\])|(?<=, )/).map((part, n) => html`${n ? html`<wbr />` : ""}<span class="part">${part}</span>`)}</span>`;
}

export function budgeted(budget) {
  if (!budget) return null;
  return { seconds: () => seconds(budget.amount), tokens: () => `${short(budget.amount)} tokens`,
    flops: () => `${budget.amount.toExponential(1)} FLOPs` }[budget.kind]?.() ?? String(budget.amount);
}

function spelled(tokenizer) {
  if (!tokenizer || typeof tokenizer === "string") return tokenizer === "own" ? "each model's own" : tokenizer;
  const size = tokenizer.vocabulary ?? tokenizer.size;
  return [tokenizer.name?.replaceAll("_", " "), size && whole(size)].filter(Boolean).join(", ");
}

const counted = (n, word) => n != null && `${whole(n)} ${word}${n === 1 ? "" : "s"}`;

function day(iso) {
  const when = new Date(iso);
  return Number.isNaN(when.getTime()) ? iso : when.toLocaleDateString("en-US", { dateStyle: "medium" });
}
