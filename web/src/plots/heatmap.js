// A matrix of numbers as colors on a canvas, with what stands under the pointer in words.
import { extent } from "d3-array";
import { scaleLinear } from "d3-scale";
import { useEffect, useRef, useState } from "preact/hooks";
import { digits } from "../format.js";
import { html } from "../html.js";
import { onLookChange, resolved } from "../palette.js";

const LABELS = 40; // more rows or columns than this are not named at their sides

/**
 * values: rows of numbers (null is left blank); rowLabels, columnLabels: texts. range: [low, high], by default that of
 * the values. diverging: colors on both sides of 0. cell: pixels of a cell at most. Arrow keys move over the cells.
 */
export function HeatMap({ values, rowLabels, columnLabels, rowTitle = "row", columnTitle = "column", range,
  diverging = false, cell = 22, format = (value) => digits(value, 3), label }) {
  const [at, setAt] = useState(null);
  const box = useRef(null);
  const [rows, columns] = [values.length, values[0]?.length ?? 0];
  const [low, high] = range ?? extent(values.flat().filter((each) => each != null));
  const size = Math.max(2, Math.min(cell, Math.floor(560 / Math.max(columns, 1))));
  useEffect(() => {
    const draw = () => paint(box.current, values, colors(low, high, diverging));
    draw();
    return onLookChange(draw);
  }, [values, low, high, diverging]);
  const point = (event) => {
    const bounds = box.current.getBoundingClientRect();
    setAt([clamp(Math.floor((event.clientY - bounds.top) / bounds.height * rows), rows),
      clamp(Math.floor((event.clientX - bounds.left) / bounds.width * columns), columns)]);
  };
  const move = (event) => {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    setAt(([row, column]) => [clamp(row + step[0], rows), clamp(column + step[1], columns)]);
  };
  const named = rows <= LABELS && columns <= LABELS && rowLabels && columnLabels && size >= 10;
  return html`<div class="heat">
    <div class="heat-frame" style=${`--cell:${size}px;--rows:${rows};--columns:${columns}`}>
      ${named && html`<${Labels} side="heat-rows" texts=${rowLabels} />`}
      <canvas ref=${box} width=${columns} height=${rows} tabindex="0" role="img"
        onPointerMove=${point} onPointerDown=${point}
        onPointerLeave=${() => setAt(null)} onFocus=${() => setAt((old) => old ?? [0, 0])} onKeyDown=${move}
        aria-label=${label ?? `${rowTitle} by ${columnTitle}: ${rows} by ${columns} values`}></canvas>
      ${named && html`<${Labels} side="heat-columns" texts=${columnLabels} />`}
    </div>
    <p class="heat-told number" aria-live="polite">${at && values[at[0]]
      ? `${called(rowTitle, rowLabels, at[0])}, ${called(columnTitle, columnLabels, at[1])}: `
        + format(values[at[0]][at[1]])
      : `${format(low)} to ${format(high)}`}</p>
  </div>`;
}

const called = (title, labels, n) => `${title} ${visible(labels?.[n] ?? n)}`;

function Labels({ side, texts }) {
  return html`<ol class=${side} aria-hidden="true">${texts.map((each) => html`<li>${visible(each)}</li>`)}</ol>`;
}

function colors(low, high, diverging) {
  const scale = (values, names) => scaleLinear(values, names.map((name) => resolved(`var(--${name})`))).clamp(true);
  if (!diverging) return scale([low, high === low ? low + 1 : high], ["heat-0", "heat-1"]);
  const far = Math.max(Math.abs(low), Math.abs(high)) || 1;
  return scale([-far, 0, far], ["below", "middle", "above"]);
}

function paint(canvas, values, color) {
  const pen = canvas.getContext("2d");
  pen.clearRect(0, 0, canvas.width, canvas.height);
  values.forEach((row, r) => row.forEach((value, c) => {
    if (value == null) return;
    pen.fillStyle = color(value);
    pen.fillRect(c, r, 1, 1);
  }));
}

const clamp = (n, size) => Math.max(0, Math.min(size - 1, n));

/** Spaces and line ends as signs, so that a token that is only a space can be seen. */
export function visible(text) {
  return String(text).replace(/\n/g, "⏎").replace(/\t/g, "⇥").replace(/ /g, "␣") || "∅";
}
