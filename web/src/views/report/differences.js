// Which differences are significant: each row against each column.
import { digits, signed, signedEnough } from "../../format.js";
import { html } from "../../html.js";
import { Section } from "../../pieces.js";
import { Dot } from "../../plots/legend.js";
import { Scroll } from "../../plots/scroll.js";

const CAPTION = `Row minus column, in bits per byte, or per token where models are ranked by perplexity: below zero the
  row is better. In color where the difference is significant; gray where it is not.`;
const LONG = 16; // letters of a name that still stands upright over its column
const WORDS = { even: "not significantly different from", better: "better than", worse: "worse than" };

export function Differences({ report, looks }) {
  const known = bothWays(report.pairs ?? []);
  if (!known.size) return null;
  const bits = new Map(report.rows.map((row) => [row.name, row[report.ranked_by ?? "bits_per_byte"] ?? Infinity]));
  const compared = new Set([...known.values()].map((pair) => pair.a));
  const names = [...looks.keys()].filter((name) => compared.has(name)).sort((a, b) => bits.get(a) - bits.get(b));
  const tall = names.some((name) => name.length > LONG) ? "tall" : undefined;
  return html`<${Section} id="differences" title="Which differences count" caption=${CAPTION}>
    <${Scroll} label="Differences"><table class="differences keep">
      <thead><tr><td></td>${names.map((name) => html`
        <th scope="col"><span class=${tall}>${name}</span></th>`)}</tr></thead>
      <tbody>${names.map((row) => html`<tr>
        <th scope="row"><span class="name"><${Dot} ...${looks.get(row)} /><span>${row}</span></span></th>
        ${names.map((column) => html`<${Cell} pair=${known.get(`${row}\n${column}`)} />`)}</tr>`)}</tbody>
    </table><//>
    ${report.units && html`<p class="quiet small">Paired bootstrap over ${report.units}, 5 % for all pairs together.
      <span class="no-print"> Point at a number for its interval.</span></p>`}
  <//>`;
}

/** Each pair, and the same pair the other way round, by both names. */
function bothWays(pairs) {
  const minus = (value) => (value == null ? null : -value);
  const turned = (pair) => ({ ...pair, a: pair.b, b: pair.a, difference: minus(pair.difference),
    low: minus(pair.high), high: minus(pair.low) });
  const all = pairs.flatMap((pair) => [pair, turned(pair)]);
  return new Map(all.map((pair) => [`${pair.a}\n${pair.b}`, pair]));
}

function Cell({ pair }) {
  if (!pair) return html`<td></td>`;
  const verdict = !pair.significant ? "even" : pair.difference < 0 ? "better" : "worse";
  const told = [`${pair.a} is ${WORDS[verdict]} ${pair.b}: ${signed(pair.difference)}`,
    pair.low != null && `95 % interval ${signed(pair.low)} to ${signed(pair.high)}`,
    pair.p_value != null && `p = ${digits(pair.p_holm ?? pair.p_value)}`].filter(Boolean).join(", ");
  return html`<td class=${`number ${verdict}`} title=${told}>${signedEnough(pair.difference)}
    <span class="unseen">${WORDS[verdict]}</span></td>`;
}
