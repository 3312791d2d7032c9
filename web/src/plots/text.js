// A text whose pieces are colored; the pointer, a tap or the arrow keys choose one.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { html } from "../html.js";
import { rule } from "../palette.js";

/**
 * segments: [{text, color, mark, strength: 0 to 1}] (no color: none); selected: an index or null; onSelect: (index)
 * => …. The whole text is one stop of the Tab key; from there the arrow keys go from piece to piece.
 */
export function ColoredText({ segments, selected, onSelect, label }) {
  const box = useRef(null);
  const spans = useMemo(() => segments.map((each, n) => html`
    <span key=${n} data-at=${n} style=${tint(each)}>${shown(each.text)}</span>`), [segments]);
  useEffect(() => { // by hand: a text has thousands of pieces, and only two of them change
    const chosen = selected == null ? null : box.current.querySelector(`[data-at="${selected}"]`);
    chosen?.classList.add("chosen");
    return () => chosen?.classList.remove("chosen");
  }, [selected, spans]);
  const choose = (event) => {
    const at = event.target.dataset?.at;
    if (at !== undefined && Number(at) !== selected) onSelect(Number(at));
  };
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? segments.length - 1 : step && (selected ?? -1) + step;
    if (to === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(segments.length - 1, to));
    onSelect(next);
    box.current.querySelector(`[data-at="${next}"]`)?.scrollIntoView({ block: "nearest" });
  };
  return html`<div class="colored" ref=${box} tabindex="0" role="application" aria-label=${label}
    aria-roledescription="text; the arrow keys go from token to token" onPointerOver=${choose} onClick=${choose}
    onKeyDown=${move} onFocus=${() => selected == null && onSelect(0)}>${spans}</div>`;
}

function tint({ color, strength, mark }) {
  if (!color || !(strength > 0)) return undefined;
  const share = `calc(var(--tint) * ${Math.round(100 * Math.min(1, strength))}%)`; // less on dark screens
  const line = mark ? `;text-decoration:underline ${rule(mark)} 2px ${color}` : "";
  return `background:color-mix(in srgb, ${color} ${share}, transparent)${line}`;
}

/** A line end keeps its place but is given a sign, so that it can be pointed at. */
function shown(text) {
  return text.replace(/\n/g, "↵\n");
}
