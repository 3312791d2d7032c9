// A table whose columns sort: a click on a heading, again for the other way.
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { Scroll } from "./scroll.js";

/**
 * columns: [{key, label, title, numeric, head: what stands under the label, value: row => number or text,
 * render: row => anything, descends: true where the largest comes first}]; rows with a null value stay last. wide: row => anything
 * that stands in place of the columns after the first. look: row => class names. sort: [key, descending].
 */
export function Table({ columns, rows, wide, look, sort: first, caption }) {
  const [sort, setSort] = useState(first ?? null);
  const column = sort && columns.find((each) => each.key === sort[0]);
  const ordered = column ? [...rows].sort(order(column.value, sort[1])) : rows;
  const press = ({ key, descends }) => setSort((old) => (old?.[0] === key ? [key, !old[1]] : [key, Boolean(descends)]));
  return html`<${Scroll} label=${caption}><table class="sortable">
    ${caption && html`<caption class="unseen">${caption}</caption>`}
    <thead><tr>${columns.map((each) => html`<${Heading} column=${each} onPress=${() => press(each)}
      descending=${column === each ? sort[1] : undefined} />`)}</tr></thead>
    <tbody>${ordered.map((row) => html`
      <tr key=${row.name} class=${look?.(row)} data-row=${row.name}>${cells(columns, row, wide?.(row))}</tr>`)}</tbody>
  </table><//>`;
}

function Heading({ column, descending, onPress }) {
  const [way, arrow] = descending === undefined ? ["none", ""] : descending ? ["descending", "▼"] : ["ascending", "▲"];
  return html`<th scope="col" class=${column.numeric && "numeric"} aria-sort=${way}>
    <button type="button" title=${column.title} onClick=${onPress}>${column.label}
      <span class="arrow" aria-hidden="true">${arrow}</span></button>${column.head}</th>`;
}

function cells(columns, row, wide) {
  const [head, ...rest] = columns;
  return [html`<th scope="row">${head.render(row)}</th>`, ...(wide
    ? [html`<td class="wide" colspan=${rest.length}>${wide}</td>`]
    : rest.map((each) => html`<td class=${each.numeric && "numeric number"}>${each.render(row)}</td>`))];
}

function order(value, descending) {
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x == null || y == null) return (x == null) - (y == null);
    const way = typeof x === "string" ? x.localeCompare(y) : x - y;
    return descending ? -way : way;
  };
}
