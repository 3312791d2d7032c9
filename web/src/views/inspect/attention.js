// Attention: a small map for each layer and head, rollout beside them; one is shown large, with the text it is about.
import { quantile } from "d3-array";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "../../html.js";
import { digits } from "../../format.js";
import { onLookChange, resolved } from "../../palette.js";
import { Section } from "../../pieces.js";
import { HeatMap, visible } from "../../plots/heatmap.js";
import { ColoredText } from "../../plots/text.js";

export function Attention({ id, of, part, data }) {
  const maps = useMemo(() => everyMap(part), [part]);
  const [chosen, choose] = useState(maps[0].key);
  const map = maps.find((each) => each.key === chosen);
  const columns = Math.max(...part.layers.map((layer) => layer.heads.length)) + 1;
  return html`<${Section} id=${id} title=${`Attention${of}`}
    caption="Each small map is a head: a row for the token that looks, a column for the token looked at. Choose one to see it large. Rollout follows attention through all layers up to this one (Abnar & Zuidema 2020).">
    <div class="maps" style=${`--columns:${columns}`} role="group" aria-label="Attention maps">
      ${part.layers.map((layer, l) => html`<div class="map-row">
        <span class="map-layer quiet">${layer.name}</span>
        <div class="map-heads">${maps.filter((each) => each.layer === l).map((each) => html`<${Miniature} map=${each}
          chosen=${each.key === chosen} onChoose=${() => choose(each.key)} />`)}</div></div>`)}
    </div>
    <${Large} key=${chosen} map=${map} read=${part.read} spaced=${data.spaced} />
  <//>`;
}

function everyMap({ layers, rollout }) {
  return layers.flatMap((layer, l) => [
    ...layer.heads.map((weights, h) => ({ key: `${l}-${h}`, layer: l, name: `${layer.name}, head ${h}`, short: `head ${h}`, weights })),
    { key: `${l}-rollout`, layer: l, name: `rollout up to ${layer.name}`, short: "rollout", weights: rollout[l] },
  ]).map((map) => ({ ...map, darkest: darkest(map.weights) }));
}

/** The weight that is drawn darkest: the first tokens have little to choose from, so that their large weights say nothing. */
function darkest(weights) {
  const most = weights.slice(Math.min(8, weights.length - 1)).map((row) => Math.max(...row));
  return Math.min(1, Math.max(0.05, quantile(most, 0.9)));
}

function Miniature({ map, chosen, onChoose }) {
  const box = useRef(null);
  useEffect(() => {
    const draw = () => paint(box.current, map.weights, map.darkest);
    draw();
    return onLookChange(draw);
  }, [map]);
  const size = map.weights.length;
  return html`<button type="button" class="miniature" aria-pressed=${String(chosen)} aria-label=${map.name} title=${map.name} onClick=${onChoose}>
    <canvas ref=${box} width=${size} height=${size} aria-hidden="true"></canvas><span>${map.short}</span></button>`;
}

function paint(canvas, weights, darkest) {
  const pen = canvas.getContext("2d");
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = resolved("var(--heat-1)");
  weights.forEach((row, q) => row.forEach((weight, k) => {
    if (!weight) return;
    pen.globalAlpha = Math.min(1, weight / darkest);
    pen.fillRect(k, q, 1, 1);
  }));
}

function Large({ map, read, spaced }) {
  const [at, setAt] = useState(read.length - 1);
  const row = map.weights[at];
  const most = Math.max(...row, 1e-9);
  const segments = read.map((text, n) => ({ text: `${spaced && n ? " " : ""}${text}`, color: "var(--series-0)",
    strength: n <= at ? 0.9 * row[n] / most : 0 }));
  const seen = row.map((weight, n) => [weight, n]).sort((a, b) => b[0] - a[0]).slice(0, 5).filter(([weight]) => weight > 0);
  return html`<div class="large">
    <h3>${map.name}</h3>
    <div class="large-body">
      <${HeatMap} values=${map.weights} rowLabels=${read} columnLabels=${read} rowTitle="from" columnTitle="to" range=${[0, map.darkest]} cell=${14}
        label=${`${map.name}: weights of ${read.length} tokens`} />
      <div class="looks">
        <p class="quiet">Point at a token to see where it looks; it never looks ahead.</p>
        <${ColoredText} segments=${segments} selected=${at} onSelect=${setAt} label="The tokens that were read, colored by how much the chosen one looks at them" />
        <p class="number looked" aria-live="polite"><code>${visible(read[at])}</code> looks at ${seen.map(([weight, n], i) => html`${i ? ", " : ""}<code>${visible(read[n])}</code> ${digits(weight, 2)}`)}</p>
      </div>
    </div>
  </div>`;
}
