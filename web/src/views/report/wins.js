// Where each model wins: the held-out text itself, each token in the color of the model that predicts it best.
import { useMemo, useState } from "preact/hooks";
import { digits, percent } from "../../format.js";
import { html } from "../../html.js";
import { Choice, Section } from "../../pieces.js";
import { visible } from "../../plots/heatmap.js";
import { Dot } from "../../plots/legend.js";
import { ColoredText } from "../../plots/text.js";

const FULL = 4; // bits of advantage at which a color is as strong as it gets
const STRONGEST = 0.62; // so that the text on it can be read
const ALL = "all";
const CAPTION = html`The held-out text. A token has the color of the model that predicts it best; the stronger the color, the more bits
  it saves against the next best, up to ${FULL}.<span class="no-print"> Point at a token, or use the arrow keys, to see what each model expected.</span>`;

export function Wins({ details: { text }, looks }) {
  const [pair, setPair] = useState([ALL, null]);
  const [at, setAt] = useState(0);
  const [selected, setSelected] = useState(null);
  const models = (text?.models ?? []).filter((name) => looks.has(name));
  const page = text?.documents?.[at];
  const rivals = pair[0] === ALL ? models : pair;
  const places = rivals.map((name) => text?.models.indexOf(name));
  const judged = useMemo(() => (page?.segments ?? []).map((segment) => judge(segment, places)), [page, rivals.join("\n")]);
  const colored = useMemo(() => (page?.segments ?? []).map((segment, n) => ({ text: segment.text,
    color: looks.get(rivals[judged[n].winner])?.color, strength: STRONGEST * Math.min(1, judged[n].margin / FULL) })), [judged]);
  if (!page || !models.length) return null;
  const options = models.map((name) => [name, name]);
  const first = (name) => { setPair(name === ALL ? [ALL, null] : [name, pair[1] && pair[1] !== name ? pair[1] : models.find((each) => each !== name)]); };
  return html`<${Section} id="wins" title="Where each model wins"
    caption=${CAPTION}>
    <div class="controls">
      ${text.documents.length > 1 && html`<${Choice} label="Document" value=${at} onChange=${(value) => { setAt(Number(value)); setSelected(null); }}
        options=${text.documents.map((each, n) => [n, each.title || `document ${n + 1}`])} />`}
      ${models.length > 2 && html`<${Choice} label="Compare" value=${pair[0]} onChange=${first} options=${[[ALL, "all models"], ...options]} />`}
      ${pair[0] !== ALL && html`<${Choice} label="with" value=${pair[1]} onChange=${(name) => setPair([pair[0], name])} options=${options.filter(([name]) => name !== pair[0])} />`}
    </div>
    <${Shares} judged=${judged} segments=${page.segments} rivals=${rivals} looks=${looks} />
    <div class="wins">
      <div class="reading-text"><${ColoredText} segments=${colored} selected=${selected} onSelect=${setSelected} label="Held-out text" /></div>
      <aside class="token no-print" aria-live="polite" tabindex="0" aria-label="The token">${selected != null && page.segments[selected]
        ? html`<${Token} segment=${page.segments[selected]} models=${models} all=${text.models} looks=${looks} />`
        : html`<p class="quiet">Point at a token to see each model's five best guesses.</p>`}</aside>
    </div>
  <//>`;
}

/** Which of the rivals needs the fewest bits, and how many fewer than the next. */
function judge(segment, places) {
  const order = places.map((place, n) => [segment.bits[place] ?? Infinity, n]).sort((a, b) => a[0] - b[0]);
  const margin = order.length > 1 ? order[1][0] - order[0][0] : 0;
  return { winner: order[0][1], margin: Number.isFinite(margin) ? margin : FULL };
}

function Shares({ judged, segments, rivals, looks }) {
  const saved = rivals.map(() => 0);
  const won = rivals.map(() => 0);
  judged.forEach(({ winner, margin }, n) => { if (margin > 1e-9) { won[winner] += segments[n].text.length; saved[winner] += margin; } });
  const total = won.reduce((a, b) => a + b, 0) || 1;
  return html`<div class="shares">
    <div class="share-bar" aria-hidden="true">${rivals.map((name, n) => html`<span style=${`flex:${won[n]};background:${looks.get(name).color}`}></span>`)}</div>
    <ul>${rivals.map((name, n) => html`<li><${Dot} color=${looks.get(name).color} /> ${name} is best on <b class="number">${percent(won[n] / total)}</b> of this text</li>`)}</ul>
  </div>`;
}

function Token({ segment, models, all, looks }) {
  const rows = models.map((name) => ({ name, place: all.indexOf(name) })).map((each) => ({ ...each, bits: segment.bits[each.place], top: segment.top?.[each.place] }));
  const most = Math.max(...rows.map((row) => row.bits ?? 0), 1);
  const best = Math.min(...rows.map((row) => row.bits ?? Infinity));
  return html`<h3><code class="piece">${visible(segment.text)}</code></h3>
    <p class="quiet small">bits that each model needed, and its five best guesses</p>
    ${[...rows].sort((a, b) => (a.bits ?? Infinity) - (b.bits ?? Infinity)).map((row) => html`<div class="guess">
      <div class="bits"><${Dot} color=${looks.get(row.name).color} /><span class=${row.bits === best ? "winner" : ""}>${row.name}</span>
        <span class="number">${digits(row.bits, 2)}</span></div>
      <div class="meter" aria-hidden="true"><span style=${`width:${100 * (row.bits ?? 0) / most}%;background:${looks.get(row.name).color}`}></span></div>
      ${row.top && html`<ol class="top">${row.top.map(([text, p]) => html`<li class=${text === segment.text ? "right" : ""}><code>${visible(text)}</code>
        <span class="number">${percent(p, p < 0.1 ? 1 : 0)}</span></li>`)}</ol>`}
    </div>`)}`;
}
