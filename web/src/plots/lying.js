// Lying bars on a logarithmic axis, each with its name and its number: for a few values of very different size.
import { scaleLog } from "d3-scale";
import { html } from "../html.js";
import { surface } from "../palette.js";

/** values: {name: number}; looks: Map from names to {color, mark}; label: what is measured; format: number => text. */
export function Lying({ values, looks, label, format }) {
  const shown = Object.values(values).filter((value) => value > 0);
  const [low, high] = shown.length ? [Math.min(...shown), Math.max(...shown)] : [1, 10];
  const at = scaleLog([10 ** (Math.ceil(Math.log10(low)) - 1), high], [2, 100]);
  return html`<ul class="lying" aria-label=${label}>${Object.entries(values).map(([name, value]) => html`<li>
    <span>${name}</span>
    <span class="bar"><i style=${`width:${value > 0 ? at(value) : 0}%;background:${surface(looks.get(name))}`}></i></span>
    <span class="number">${format(value)}</span></li>`)}</ul>
    <p class="quiet small">${label}; the bars are logarithmic.</p>`;
}
