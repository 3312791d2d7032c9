// A map of word vectors: search, zoom, and what lies near a word.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { digits, whole } from "../format.js";
import { html } from "../html.js";
import { look, onLookChange } from "../palette.js";
import { Switch } from "../pieces.js";
import { Dot } from "../plots/legend.js";
import { fitted, nearest, paint, toward, zoomed } from "./map/scene.js";
import "./map/map.css";

const REACH = 18; // pixels from the pointer to a dot that it means
const LISTED = 12; // words that the search names

export default function WordMap({ data, title }) {
  const [method, setMethod] = useState(data.maps[0].name);
  const map = data.maps.find((each) => each.name === method);
  const [sought, setSought] = useState("");
  const [pointed, setPointed] = useState(null);
  const [chosen, setChosen] = useState(null);
  const [group, setGroup] = useState(null);
  const found = useMemo(() => search(data.words, sought), [data, sought]);
  const shown = pointed ?? chosen;
  return html`<header>
      <h1>${title}</h1>
      <p class="quiet">${`${whole(data.words.length)} of ${whole(data.of)} words, ${data.dimension} numbers each. ${map.said}${data.groups ? ` ${data.groups.said}` : ""}`}</p>
    </header>
    <div class="controls map-controls">
      <label class="control"><span>Search</span>
        <input type="search" value=${sought} placeholder="a word, or a part of one" autocomplete="off"
          onInput=${(event) => setSought(event.target.value)}
          onKeyDown=${(event) => event.key === "Enter" && found.length && setChosen(found[0])} /></label>
      ${data.maps.length > 1 && html`<${Switch} label="Map by" options=${data.maps.map(({ name }) => [name, name])}
        value=${method} onChange=${setMethod} />`}
      <span class="quiet map-found" aria-live="polite">${sought && told(found.length)}</span>
    </div>
    ${data.groups && html`<ul class="legend map-legend">${data.groups.names.map((name, n) => html`<li>
      <button type="button" aria-pressed=${String(group === null || group === n)}
        onClick=${() => setGroup(group === n ? null : n)}><${Dot} ...${look(n)} />${name}</button></li>`)}</ul>`}
    <div class="map-desk">
      <${Canvas} key=${method} places=${map.places} data=${data} group=${group} found=${found} shown=${shown} chosen=${chosen}
        onPoint=${setPointed} onChoose=${setChosen} />
      <aside>
        ${sought && html`<ul class="map-matches" aria-label="Words found">${found.slice(0, LISTED).map((each) => html`<li>
          <button type="button" onClick=${() => setChosen(each)}>${data.words[each]}</button></li>`)}</ul>`}
        <${Card} data=${data} word=${shown} onChoose=${setChosen} />
      </aside>
    </div>`;
}

/** Numbers of the words that hold the text: those that are or begin with it first. */
export function search(words, sought) {
  const text = sought.trim().toLowerCase();
  if (!text) return [];
  const rank = (word) => (word === text ? 0 : word.startsWith(text) ? 1 : 2);
  return words.map((word, n) => [word.toLowerCase(), n]).filter(([word]) => word.includes(text))
    .sort(([a, m], [b, n]) => rank(a) - rank(b) || m - n).map(([, n]) => n);
}

const told = (count) => (count === 1 ? "1 word" : count ? `${whole(count)} words` : "no such word on the map");

function Card({ data, word, onChoose }) {
  if (word == null) return html`<p class="quiet map-card">Point at a dot, or search, to see what lies near a word. The wheel zooms, dragging moves.</p>`;
  return html`<div class="map-card">
    <h3>${data.words[word]}</h3>
    <p class="quiet">${data.counts ? `${whole(data.counts[word])} times in the text; ` : ""}nearest on the map, by cosine:</p>
    <ol>${data.near[word].map((other, n) => html`<li>
      <button type="button" onClick=${() => onChoose(other)}>${data.words[other]}</button>
      <span class="number">${digits(data.cosines[word][n], 2)}</span></li>`)}</ol>
  </div>`;
}

function Canvas({ places, data, group, found, shown, chosen, onPoint, onChoose }) {
  const box = useRef(null);
  const [size, setSize] = useState([800, 560]);
  const [view, setView] = useState(null);
  const drag = useRef(null);
  const now = view ?? fitted(places, size);
  const state = useRef(null);
  state.current = { now, size };
  useEffect(() => measured(box.current, setSize), []);
  useEffect(() => { if (chosen != null) setView(toward(state.current.now, places[chosen], state.current.size)); }, [chosen, places]);
  useEffect(() => {
    const turn = (event) => {
      event.preventDefault();
      setView(zoomed(state.current.now, at(event), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015))));
    };
    box.current.addEventListener("wheel", turn, { passive: false });
    const canvas = box.current;
    return () => canvas.removeEventListener("wheel", turn);
  }, []);
  useEffect(() => {
    const draw = () => paint(box.current, places, data, { view: now, size, found, shown, group });
    draw();
    return onLookChange(draw);
  });
  const at = (event) => {
    const bounds = box.current.getBoundingClientRect();
    return [event.clientX - bounds.left, event.clientY - bounds.top];
  };
  const move = (event) => {
    const here = at(event);
    if (drag.current) {
      const [x, y] = drag.current.last;
      drag.current = { last: here, moved: drag.current.moved + Math.abs(here[0] - x) + Math.abs(here[1] - y) };
      setView({ ...now, x: now.x + here[0] - x, y: now.y + here[1] - y });
    } else onPoint(nearest(places, now, here, REACH));
  };
  const press = (event) => { box.current.setPointerCapture(event.pointerId); drag.current = { last: at(event), moved: 0 }; };
  const release = (event) => {
    if (drag.current && drag.current.moved < 4) onChoose(nearest(places, now, at(event), REACH));
    drag.current = null;
  };
  const middle = [size[0] / 2, size[1] / 2];
  const step = (event) => {
    const way = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    const scale = { "+": 1.4, "=": 1.4, "-": 1 / 1.4 }[event.key];
    if (!way && !scale && event.key !== "0") return;
    event.preventDefault();
    setView(way ? { ...now, x: now.x + way[0], y: now.y + way[1] } : scale ? zoomed(now, middle, scale) : null);
  };
  return html`<div class="map-frame">
    <canvas ref=${box} tabindex="0" role="img" data-zoom=${now.k.toFixed(3)}
      aria-label=${`A map of ${data.words.length} words. Arrow keys move it, plus and minus zoom, 0 shows all.`}
      onPointerMove=${move} onPointerDown=${press} onPointerUp=${release} onPointerCancel=${() => { drag.current = null; }}
      onPointerLeave=${() => onPoint(null)} onKeyDown=${step}></canvas>
    <div class="map-buttons no-print">
      <button type="button" aria-label="Zoom in" onClick=${() => setView(zoomed(now, middle, 1.4))}>+</button>
      <button type="button" aria-label="Zoom out" onClick=${() => setView(zoomed(now, middle, 1 / 1.4))}>−</button>
      <button type="button" onClick=${() => setView(null)}>Show all</button>
    </div>
  </div>`;
}

function measured(canvas, tell) {
  const read = () => tell([canvas.clientWidth, canvas.clientHeight]);
  read();
  const watcher = new ResizeObserver(read);
  watcher.observe(canvas);
  return () => watcher.disconnect();
}
