// Samples side by side, the recipes, and the notes.
import { html } from "../../html.js";
import { rule } from "../../palette.js";
import { Copy, Section } from "../../pieces.js";
import { Dot } from "../../plots/legend.js";
import { inOrder } from "./looks.js";

const RECIPES = "All that is needed to make each model again: save one as a file and give it to chainrule train.";

export function Samples({ details: { samples }, looks }) {
  if (!samples?.length) return null;
  return html`<${Section} id="samples" title="What they write"
    caption="Every model goes on from the same prompt; nothing is picked by hand.">
    ${samples.map(({ prompt, texts }) => html`<div class="prompt">
      <p class="quiet">Prompt: <code class="piece">${prompt === "" ? "(none)" : prompt}</code></p>
      <div class="samples">${inOrder(looks, texts).map(({ it, ...look }) => html`
        <article style=${`border-top-color:${look.color};border-top-style:${rule(look.mark)}`}>
          <h3><${Dot} ...${look} /> ${look.name}</h3>
          ${[it].flat().map((text) => html`<pre class="sample" tabindex="0"><b>${prompt}</b>${text}</pre>`)}
        </article>`)}</div></div>`)}
  <//>`;
}

export function Recipes({ details: { recipes }, looks }) {
  const all = inOrder(looks, recipes);
  if (!all.length) return null;
  return html`<${Section} id="recipes" title="Recipes" caption=${RECIPES}>
    ${all.map(({ it, ...look }) => html`<details class="fold"><summary><${Dot} ...${look} /> ${look.name}</summary>
      <div class="inside command"><pre><code>${it}</code></pre><${Copy} text=${it} /></div></details>`)}
  <//>`;
}

export function Notes({ report: { notes = [], environment = {} } }) {
  const packages = Object.entries(environment.packages ?? {}).map(([name, version]) => `${name} ${version}`);
  const made = [environment.system, environment.python && `Python ${environment.python}`, packages.join(", ")];
  return html`<footer>
    ${notes.length > 0 && html`<${Section} id="notes" title="Notes">
      <ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul><//>`}
    <p class="quiet small colophon">${made.filter(Boolean).join(" · ")}</p>
  </footer>`;
}
