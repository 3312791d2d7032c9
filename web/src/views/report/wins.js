// Where each model wins: the held-out text itself, each token in the color of the model that predicts it best.
import { useMemo, useState } from "preact/hooks";
import { html } from "../../html.js";
import { Choice, Section } from "../../pieces.js";
import { ColoredText } from "../../plots/text.js";
import { Shares, Token } from "./token.js";

const FULL = 4; // bits of advantage at which a color is as strong as it gets
const STRONGEST = 0.62; // so that the text on it can be read
const ALL = "all";
const CAPTION = html`The held-out text. A token has the color of the model that predicts it best; the stronger the
  color, the more bits it saves against the next best, up to ${FULL}.<span class="no-print"> Point at a token, or use
  the arrow keys, to see what each model expected.</span>`;

export function Wins({ details: { text }, looks }) {
  const models = (text?.models ?? []).filter((name) => looks.has(name));
  if (!text?.documents?.length || !models.length) return null;
  return html`<${Section} id="wins" title="Where each model wins" caption=${CAPTION}>
    <${Reading} text=${text} models=${models} looks=${looks} /><//>`;
}

function Reading({ text, models, looks }) {
  const [pair, setPair] = useState([ALL, null]);
  const [at, setAt] = useState(0);
  const [selected, setSelected] = useState(null);
  const { segments } = text.documents[at];
  const rivals = pair[0] === ALL ? models : pair;
  const judged = useMemo(() => {
    const places = rivals.map((name) => text.models.indexOf(name));
    return segments.map((segment) => judge(segment, places));
  }, [segments, rivals.join("\n")]);
  const colored = useMemo(() => segments.map((segment, n) => tinted(segment, judged[n], rivals, looks)), [judged]);
  const read = (number) => { setAt(Number(number)); setSelected(null); };
  const given = { text, models, looks };
  return html`
    <${Controls} ...${given} at=${at} onRead=${read} pair=${pair} onPair=${setPair} />
    <${Shares} judged=${judged} segments=${segments} rivals=${rivals} looks=${looks} />
    <div class="wins">
      <div class="reading-text"><${ColoredText} segments=${colored} selected=${selected} onSelect=${setSelected}
        label="Held-out text" /></div>
      <aside class="token no-print" aria-live="polite" tabindex="0" aria-label="The token">${segments[selected]
        ? html`<${Token} ...${given} segment=${segments[selected]} />`
        : html`<p class="quiet">Point at a token to see each model's five best guesses.</p>`}</aside>
    </div>`;
}

const capital = (word) => word[0].toUpperCase() + word.slice(1);

function Controls({ text, models, at, onRead, pair: [first, second], onPair }) {
  const titles = text.documents.map((each, n) => [n, each.title || `${text.piece ?? "document"} ${n + 1}`]);
  const options = models.map((name) => [name, name]);
  const another = (name) => (second && second !== name ? second : models.find((each) => each !== name));
  const choose = (name) => onPair(name === ALL ? [ALL, null] : [name, another(name)]);
  return html`<div class="controls">
    ${titles.length > 1 && html`<${Choice} label=${capital(text.piece ?? "document")} value=${at} onChange=${onRead}
      options=${titles} />`}
    ${models.length > 2 && html`<${Choice} label="Compare" value=${first} onChange=${choose}
      options=${[[ALL, "all models"], ...options]} />`}
    ${first !== ALL && html`<${Choice} label="with" value=${second} onChange=${(name) => onPair([first, name])}
      options=${options.filter(([name]) => name !== first)} />`}
  </div>`;
}

/** Which of the rivals needs the fewest bits, and how many fewer than the next. */
function judge(segment, places) {
  const order = places.map((place, n) => [segment.bits[place] ?? Infinity, n]).sort((a, b) => a[0] - b[0]);
  const margin = order.length > 1 ? order[1][0] - order[0][0] : 0;
  return { winner: order[0][1], margin: Number.isFinite(margin) ? margin : FULL };
}

function tinted({ text }, { winner, margin }, rivals, looks) {
  const { color, mark } = looks.get(rivals[winner]) ?? {};
  return { text, color, mark, strength: STRONGEST * Math.min(1, margin / FULL) };
}
