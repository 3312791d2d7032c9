// The report of `chainrule compare`.
import { html } from "../html.js";

export default function Report({ title }) {
  return html`<h1>${title}</h1>`;
}
