// What `chainrule inspect` shows: a text through the eyes of one model, and the model's inside.
import { digits, whole } from "../format.js";
import { html } from "../html.js";
import { Attention } from "./inspect/attention.js";
import { BackOff } from "./inspect/backoff.js";
import { Layers } from "./inspect/layers.js";
import { Members } from "./inspect/members.js";
import { Neighbors } from "./inspect/neighbors.js";
import { Positions } from "./inspect/positions.js";
import { Surprisal } from "./inspect/surprisal.js";
import "./inspect/inspect.css";

const PARTS = [["members", Members], ["backoff", BackOff], ["attention", Attention], ["layers", Layers],
  ["positions", Positions], ["neighbors", Neighbors]];

export default function Inspect({ data, title }) {
  return html`<header class="inspect-head">
      <h1>${title}</h1>
      <p class="quiet">${headline(data)}</p>
      ${data.said.map((line) => html`<p class="quiet said">${capital(line)}</p>`)}
    </header>
    <${Surprisal} data=${data} />
    ${data.models.map((model, n) => html`<${Inside} model=${model} data=${data} number=${n} />`)}`;
}

function Inside({ model, data, number }) {
  const mine = (name) => (data.models.length > 1 ? `${name}-${number}` : name);
  const of = data.models.length > 1 ? `, ${model.name}` : "";
  return PARTS.map(([name, Part]) => model[name] && html`<${Part} id=${mine(name)} of=${of} part=${model[name]} data=${data} />`);
}

function headline({ family, tokenizer, totals, units, unit }) {
  const much = `${whole(totals.tokens)} tokens in ${whole(units)} ${unit}${units === 1 ? "" : "s"}`;
  const told = totals.impossible
    ? `${whole(totals.impossible)} of them impossible for this model, so there is no perplexity`
    : `${digits(totals.bits_per_token)} bits a token, where the model expected ${digits(totals.entropy)}; perplexity ${digits(totals.perplexity, 2)}`;
  return `${family} over ${tokenizer}: ${much}; ${told}.`;
}

const capital = (line) => line.charAt(0).toUpperCase() + line.slice(1);
