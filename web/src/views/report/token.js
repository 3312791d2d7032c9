// One token as each model saw it, and how much of a text each model won.
import { digits, percent } from "../../format.js";
import { html } from "../../html.js";
import { surface } from "../../palette.js";
import { visible } from "../../plots/heatmap.js";
import { Dot } from "../../plots/legend.js";

/** The bits that each model needed for the segment, the best first, and its five best guesses. */
export function Token({ segment, models, text, looks }) {
  const rows = models.map((name) => {
    const place = text.models.indexOf(name);
    return { look: looks.get(name), bits: segment.bits[place], top: segment.top?.[place] };
  }).sort((a, b) => (a.bits ?? Infinity) - (b.bits ?? Infinity));
  const most = Math.max(...rows.map((row) => row.bits ?? 0), 1);
  return html`<h3><code class="piece">${visible(segment.text)}</code></h3>
    <p class="quiet small">bits that each model needed, and its five best guesses</p>
    ${rows.map((row, n) => html`<${Guess} ...${row} best=${n === 0} most=${most} right=${segment.text} />`)}`;
}

function Guess({ look, bits, top, best, most, right }) {
  return html`<div class="guess">
    <div class="bits"><${Dot} ...${look} /><span class=${best ? "winner" : undefined}>${look.name}</span>
      <span class="number">${digits(bits, 2)}</span></div>
    <div class="meter" aria-hidden="true">
      <span style=${`width:${100 * (bits ?? 0) / most}%;background:${surface(look)}`}></span></div>
    ${top && html`<ol class="top">${top.map(([text, p]) => html`<li class=${text === right ? "right" : undefined}>
      <code>${visible(text)}</code> <span class="number">${percent(p, p < 0.1 ? 1 : 0)}</span></li>`)}</ol>`}
  </div>`;
}

/** On how much of the text each rival is the best. */
export function Shares({ judged, segments, rivals, looks }) {
  const won = rivals.map(() => 0);
  judged.forEach(({ winner, margin }, n) => { if (margin > 1e-9) won[winner] += segments[n].text.length; });
  const total = won.reduce((a, b) => a + b, 0) || 1;
  return html`<div class="shares">
    <div class="share-bar" aria-hidden="true">${rivals.map((name, n) => html`
      <span style=${`flex:${won[n]};background:${surface(looks.get(name))}`}></span>`)}</div>
    <ul>${rivals.map((name, n) => html`<li><${Dot} ...${looks.get(name)} /> ${name} is best on${" "}
      <b class="number">${percent(won[n] / total)}</b> of this text</li>`)}</ul>
  </div>`;
}
