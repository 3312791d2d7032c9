// How alike the hidden states of each pair of layers are.
import { useState } from "preact/hooks";
import { html } from "../../html.js";
import { digits } from "../../format.js";
import { Figure, Section, Switch } from "../../pieces.js";
import { HeatMap } from "../../plots/heatmap.js";

const MEASURES = {
  unbiased_cka: ["CKA, unbiased", "Whether the layers put the same tokens near each other, whatever the directions: 1 is the same up to a rotation, about 0 is unrelated (Nguyen et al. 2021)."],
  cka: ["CKA", "Linear CKA as it was published (Kornblith et al. 2019). With few tokens it is far above 0 even for unrelated layers."],
  cosine: ["cosine", "The mean over the tokens of the cosine of a token's vectors in the two layers: whether they point the same way."],
};

export function Layers({ id, of, part }) {
  const [measure, setMeasure] = useState("unbiased_cka");
  const [, caption] = MEASURES[measure];
  const values = part[measure];
  const names = part.names.map((name) => name.replace(" ", "\u00a0")); // a space in a name is no token
  return html`<${Section} id=${id} title=${`Layers${of}`} caption=${`The hidden states of ${part.read.length} tokens as they leave each sublayer, compared with those of every other.`}>
    <div class="controls"><${Switch} label="Measure" options=${Object.entries(MEASURES).map(([key, [name]]) => [key, name])} value=${measure} onChange=${setMeasure} /></div>
    <${Figure} caption=${caption} numbers=${{ head: ["", ...part.names], rows: part.names.map((name, n) => [name, ...values[n].map((each) => digits(each, 3))]) }}>
      <${HeatMap} values=${values} rowLabels=${names} columnLabels=${names} rowTitle="after" columnTitle="after" range=${measure === "cosine" ? [-1, 1] : [0, 1]}
        diverging=${measure === "cosine"} cell=${34} label="Similarity of layers" />
    <//>
  <//>`;
}
