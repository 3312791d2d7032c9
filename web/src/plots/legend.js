// Which color is which; with `onToggle`, a button each that hides and shows.
import { html } from "../html.js";

/** series: [{name, color, dash, mark}], hidden: Set of names, onToggle: (name) => … or nothing. */
export function Legend({ series, hidden = new Set(), onToggle }) {
  return html`<ul class="legend">${series.map((each) => html`<li>${onToggle
    ? html`<button type="button" aria-pressed=${String(!hidden.has(each.name))} onClick=${() => onToggle(each.name)}>
        <${Swatch} ...${each} />${each.name}</button>`
    : html`<span><${Swatch} ...${each} />${each.name}</span>`}</li>`)}</ul>`;
}

/** A short line in a series' color and dashes; a dot for a series of dots. */
export function Swatch({ color, dash = [], mark, points }) {
  if (points) return html`<${Dot} color=${color} mark=${mark} />`;
  return html`<svg class="swatch" width="20" height="10" aria-hidden="true">
    <line x1="1" x2="19" y1="5" y2="5" style=${`stroke:${color};stroke-width:3;stroke-dasharray:${dash.join(" ")}`} />
  </svg>`;
}

/** A dot in a model's color; for others of that color a ring, a square, a hollow square. */
export function Dot({ color, mark = 0 }) {
  const ink = mark % 2 ? `border:2px solid ${color}` : `background:${color}`;
  return html`<span class="dot" style=${mark > 1 ? `${ink};border-radius:0` : ink} aria-hidden="true"></span>`;
}
