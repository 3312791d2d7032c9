// How alike two places look: the model's own positions beside the forms that need no training.
import { mean } from "d3-array";
import { html } from "../../html.js";
import { palette } from "../../palette.js";
import { Figure, Section } from "../../pieces.js";
import { HeatMap } from "../../plots/heatmap.js";
import { LineChart } from "../../plots/line.js";

export function Positions({ id, of, part }) {
  const looks = palette(part.forms.map((form) => form.name));
  const series = part.forms.map((form) => ({ name: named(form), ...looks.get(form.name), ...byDistance(form.similarity) }));
  return html`<${Section} id=${id} title=${`Positions${of}`}
    caption="How alike two places look to the model, and to the forms that need no training, in the same size. A learned table shows what training has made of it.">
    <div class="side-by-side">${part.forms.map((form) => html`<${Figure} title=${named(form)} caption=${`${part.measures[form.measure]}.`}>
      <${HeatMap} values=${form.similarity} rowTitle="place" columnTitle="place" cell=${5} diverging=${form.measure !== "factor"}
        range=${form.measure === "factor" ? [0, Math.max(1, ...form.similarity.flat())] : [-1, 1]} label=${`${form.name}: similarity of places`} />
    <//>`)}</div>
    <${Figure} title="By distance" caption="The mean over all pairs of places that lie so far apart.">
      <${LineChart} series=${series} xLabel="distance, tokens" yLabel="similarity" height=${240} label="Similarity of places by distance" />
    <//>
  <//>`;
}

const named = (form) => (form.own ? `${form.name}, this model's` : form.name);

function byDistance(similarity) {
  const x = similarity.map((_, distance) => distance);
  return { x, y: x.map((distance) => mean(similarity.slice(0, similarity.length - distance), (row, place) => row[place + distance])) };
}
