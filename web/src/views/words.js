// Some words of word vectors: what lies near each, how alike they are, and a small map of all of these.
import { scaleLinear } from "d3-scale";
import { digits, percent, whole } from "../format.js";
import { html } from "../html.js";
import { palette } from "../palette.js";
import { Section } from "../pieces.js";
import { HeatMap } from "../plots/heatmap.js";
import { Dot } from "../plots/legend.js";
import "./words/words.css";

const [WIDTH, HEIGHT, EDGE] = [860, 480, 60];

export default function Words({ data, title }) {
  const names = data.words.map((each) => each.word);
  const looks = palette(names);
  return html`<header class="head"><p class="eyebrow">chainrule inspect</p><h1>${title}</h1>
      <p class="quiet">${`${whole(data.of)} words, ${data.dimension} numbers each.`}</p></header>
    <${Section} id="neighbors" title="Neighbors" caption="The nearest words, by the cosine of their vectors.">
      <div class="words-lists">${data.words.map((each) => html`<div>
        <h3><${Dot} ...${looks.get(each.word)} /> ${each.word}</h3>
        <p class="quiet">${each.rank == null ? "never seen: made of its subwords" : `${each.count == null ? "" : `${whole(each.count)} times in the text, `}rank ${whole(each.rank)}`}</p>
        <ol>${each.near.map((near) => html`<li><span>${near.word}</span> <span class="number">${digits(near.cosine, 3)}</span></li>`)}</ol></div>`)}</div><//>
    ${names.length > 1 && html`<${Section} id="similarity" title="How alike they are" caption="The cosine of each two words: 1 is the same direction, 0 none in common.">
      <${HeatMap} values=${data.similarity} rowLabels=${names} columnLabels=${names} range=${[-1, 1]} diverging cell=${44}
        format=${(value) => digits(value, 3)} label="Cosines" /><//>`}
    <${Section} id="map" title="A small map" caption=${`The words and their neighbors in the two directions in which these differ most (PCA, ${percent(data.map.share)} of the variance). chainrule inspect ${data.run} --map draws all words.`}>
      <${SmallMap} map=${data.map} names=${names} looks=${looks} /><//>`;
}

function SmallMap({ map, names, looks }) {
  const axis = (n, range) => scaleLinear([Math.min(...map.places.map((place) => place[n])), Math.max(...map.places.map((place) => place[n])) || 1], range);
  const [x, y] = [axis(0, [EDGE, WIDTH - EDGE]), axis(1, [HEIGHT - 20, 20])];
  return html`<svg class="words-map" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="A map of the words and their neighbors">
    ${map.words.map((word, n) => html`<g style=${`color:${looks.get(names[map.belongs[n]]).color}`} transform=${`translate(${x(map.places[n][0])} ${y(map.places[n][1])})`}>
      <circle r=${n < names.length ? 5 : 3} fill="currentColor" /><text x="7" y="4" class=${n < names.length ? "asked" : ""}>${word}</text></g>`)}</svg>`;
}
