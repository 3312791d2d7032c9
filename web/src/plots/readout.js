// What lies under the pointer of a line chart: the value of each line that is nearest.
import { html } from "../html.js";
import { Dot } from "./legend.js";

const ASIDE = 12; // pixels from the pointer

export function Readout({ at, series, xLog, xFormat, yFormat, describe }) {
  const far = (x) => (xLog ? Math.abs(Math.log(x / at.x)) : Math.abs(x - at.x));
  const near = series.map((each) => ({ ...each, n: nearest(each, far, xLog) })).filter((each) => each.n >= 0);
  if (!near.length) return null;
  const x = near.map((each) => each.x[each.n]).reduce((a, b) => (far(b) < far(a) ? b : a));
  const rows = near.map((each) => [each, each.y[each.n]]).sort((a, b) => a[1] - b[1]);
  const side = at.left > at.width / 2 ? `right:${at.width - at.left + ASIDE}px` : `left:${at.left + ASIDE}px`;
  return html`<div class="readout" style=${side}>
    <div class="quiet">${describe ? describe(x) : xFormat(x)}</div>
    ${rows.map(([each, y]) => html`<div class="reading"><${Dot} ...${each} />
      <span>${each.name}</span><span class="number">${yFormat(y)}</span></div>`)}
  </div>`;
}

/** The index of the point of a series that is nearest, or −1. */
function nearest({ x, y }, far, xLog) {
  const shown = x.map((_, n) => n).filter((n) => y[n] != null && (!xLog || x[n] > 0));
  return shown.reduce((best, n) => (best < 0 || far(x[n]) < far(x[best]) ? n : best), -1);
}
