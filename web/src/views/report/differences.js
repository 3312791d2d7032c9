// Which differences are more than chance: each row against each column.
import { digits, signed } from "../../format.js";
import { html } from "../../html.js";
import { Section } from "../../pieces.js";
import { Dot } from "../../plots/legend.js";

const CAPTION = "Row minus column, in bits per byte: below zero the row is better. In color where the difference is more than "
  + "chance; gray where this text cannot tell the two apart.";

const LONG = 16; // letters of a name that still stands upright over its column

export function Differences({ report, looks }) {
  const known = new Map((report.pairs ?? []).flatMap((pair) => [[`${pair.a}\n${pair.b}`, pair], [`${pair.b}\n${pair.a}`, turned(pair)]]));
  if (!known.size) return null;
  const mean = new Map(report.rows.map((row) => [row.name, row.bits_per_byte ?? Infinity]));
  const names = [...looks.keys()].filter((name) => [...known.values()].some((pair) => pair.a === name)).sort((a, b) => mean.get(a) - mean.get(b));
  return html`<${Section} id="differences" title="Which differences count" caption=${CAPTION}>
    <div class="scroll" tabindex="0" role="region" aria-label="Differences"><table class="differences keep">
      <thead><tr><td></td>${names.map((name) => html`<th scope="col"><span class=${names.some((each) => each.length > LONG) ? "tall" : undefined}>${name}</span></th>`)}</tr></thead>
      <tbody>${names.map((row) => html`<tr><th scope="row"><span class="name"><${Dot} color=${looks.get(row).color} /><span>${row}</span></span></th>
        ${names.map((column) => html`<${Cell} pair=${known.get(`${row}\n${column}`)} same=${row === column} />`)}</tr>`)}</tbody>
    </table></div>
    ${report.units && html`<p class="quiet small">Paired bootstrap over ${report.units}, 5 % for all pairs together.<span class="no-print"> Point at a number for its interval.</span></p>`}
  <//>`;
}

const turned = (pair) => ({ ...pair, a: pair.b, b: pair.a, difference: -pair.difference,
  low: pair.high == null ? null : -pair.high, high: pair.low == null ? null : -pair.low });

function Cell({ pair, same }) {
  if (!pair) return html`<td class=${same ? "same" : ""}></td>`;
  const verdict = !pair.significant ? "even" : pair.difference < 0 ? "better" : "worse";
  const words = { even: "not told apart from", better: "better than", worse: "worse than" }[verdict];
  const told = `${pair.a} is ${words} ${pair.b}: ${signed(pair.difference)}`
    + (pair.low == null ? "" : `, 95 % interval ${signed(pair.low)} to ${signed(pair.high)}`)
    + (pair.p_value == null ? "" : `, p = ${digits(pair.p_holm ?? pair.p_value)}`);
  return html`<td class=${`number ${verdict}`} title=${told}>${signed(pair.difference, 2)}<span class="unseen">${words}</span></td>`;
}
