// Of a mixture: the weights, and by whom each token was expected.
import { useState } from "preact/hooks";
import { html } from "../../html.js";
import { digits, percent } from "../../format.js";
import { palette } from "../../palette.js";
import { Section } from "../../pieces.js";
import { visible } from "../../plots/heatmap.js";
import { Legend } from "../../plots/legend.js";
import { ColoredText } from "../../plots/text.js";
import { inText, probability } from "./tokens.js";

export function Members({ id, part, data }) {
  const [at, setAt] = useState(0);
  const names = part.weights.map((_, m) => `member ${m}`);
  const looks = palette(names);
  const series = names.map((name, m) => ({ name: `${name}, weight ${digits(part.weights[m], 3)}`, ...looks.get(name) }));
  const shares = data.tokens.map((_, t) => shared(part, t));
  const segments = data.tokens.map((token, t) => {
    const best = shares[t].indexOf(Math.max(...shares[t]));
    return { text: inText(token, data.tokens[t - 1], data.spaced), ...looks.get(names[best]),
      strength: Math.max(0, (shares[t][best] - 1 / names.length) / (1 - 1 / names.length)) * 0.7 };
  });
  return html`<${Section} id=${id} title="Members" caption="By whom each token was expected: λₘ pₘ / Σ λ p. The color is the member with the largest share, as strong as it is large.">
    <${Legend} series=${series} />
    <${ColoredText} segments=${segments} selected=${at} onSelect=${setAt} label="The text, each token colored by the member that expected it most" />
    <p class="number looked" aria-live="polite"><code>${visible(data.tokens[at].text)}</code>: ${names.map((name, m) => `${m ? "; " : ""}${name} ${percent(shares[at][m])}, p = ${probability(chance(part, m, at))}`)}</p>
  <//>`;
}

const chance = (part, m, t) => (part.log_probs[m][t] == null ? 0 : Math.exp(part.log_probs[m][t]));

function shared(part, t) {
  const parts = part.weights.map((weight, m) => weight * chance(part, m, t));
  const total = parts.reduce((a, b) => a + b, 0);
  return parts.map((each) => (total > 0 ? each / total : 0));
}
