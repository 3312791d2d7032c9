// The text itself: every token colored by its surprisal, and what the model expected at the one that is chosen.
import { quantile } from "d3-array";
import { useState } from "preact/hooks";
import { whole } from "../../format.js";
import { html } from "../../html.js";
import { look } from "../../palette.js";
import { Figure, Section } from "../../pieces.js";
import { visible } from "../../plots/heatmap.js";
import { LineChart } from "../../plots/line.js";
import { ColoredText } from "../../plots/text.js";
import { bits, inText, probability } from "./tokens.js";

const COLOR = "var(--above)";

export function Surprisal({ data }) {
  const { tokens, spaced } = data;
  const [at, setAt] = useState(() => hardest(tokens));
  const most = Math.max(4, quantile(tokens.map((each) => each.surprisal ?? 0), 0.98));
  const segments = tokens.map((each, n) => ({ text: inText(each, tokens[n - 1], spaced), color: COLOR,
    strength: Math.min(1, (each.surprisal ?? most) / most) * 0.85 }));
  return html`<${Section} id="surprisal" title="Surprisal along the text"
    caption=${`The darker a token, the less the model expected it: −log₂ p(token | what came before), in bits. The darkest stands for ${bits(most)} bits and more.`}>
    <div class="reading-desk">
      <${ColoredText} segments=${segments} selected=${at} onSelect=${setAt} label="The text, each token colored by its surprisal" />
      <${Token} token=${tokens[at]} number=${at} />
    </div>
    <${Curves} tokens=${tokens} />
  <//>`;
}

function hardest(tokens) {
  const value = (each) => each.surprisal ?? Infinity;
  return tokens.reduce((best, each, n) => (value(each) > value(tokens[best]) ? n : best), 0);
}

function Token({ token, number }) {
  const widest = Math.max(...token.top.map((each) => each.probability), 1e-12);
  return html`<aside class="token-card" aria-live="polite">
    <h3><code>${visible(token.text)}</code> <span class="quiet">token ${number + 1}</span></h3>
    <p class="number">${bits(token.surprisal)} bits, p = ${probability(token.surprisal == null ? 0 : 2 ** -token.surprisal)}, rank ${whole(token.rank)}</p>
    <p class="quiet number">${bits(token.entropy)} bits were expected</p>
    <ol class="likeliest" aria-label="likeliest tokens">${token.top.map((each) => html`<li class=${each.text === token.text ? "came" : undefined}>
      <code>${visible(each.text)}</code>
      <span class="bar"><i style=${`width:${100 * each.probability / widest}%`}></i></span>
      <span class="number">${probability(each.probability)}</span></li>`)}</ol>
  </aside>`;
}

function Curves({ tokens }) {
  const x = tokens.map((_, n) => n + 1);
  const series = [{ name: "surprisal", ...look(1), x, y: tokens.map((each) => each.surprisal) },
    { name: "expected (entropy)", ...look(0), dash: [4, 3], x, y: tokens.map((each) => each.entropy) }];
  const around = (place) => {
    const n = Math.round(place) - 1;
    return `${Math.round(place)}: ${tokens.slice(Math.max(0, n - 3), n + 1).map((each) => visible(each.text)).join(" ")}`;
  };
  return html`<${Figure} title="Bits, token by token" caption="Where the orange line is above the blue one, the text was harder than the model thought it would be."
    numbers=${{ head: ["token", "bits", "expected", "rank"], rows: tokens.map((each) => [visible(each.text), bits(each.surprisal), bits(each.entropy), whole(each.rank)]) }}>
    <${LineChart} series=${series} xLabel="token" yLabel="bits" height=${240} describe=${around} label="Surprisal and entropy by token" />
  <//>`;
}
