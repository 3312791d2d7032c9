// How the loss fell in training: against time, tokens or arithmetic.
import { quantile } from "d3-array";
import { useState } from "preact/hooks";
import { digits, power, seconds, short, tick } from "../../format.js";
import { html } from "../../html.js";
import { Figure, Section, Switch } from "../../pieces.js";
import { LineChart } from "../../plots/line.js";
import { inOrder } from "./looks.js";

const clock = (value) => (value < 300 ? `${tick(value)} s` : seconds(value));
export const AXES = {
  seconds: { label: "training time", name: "Time", format: seconds, xTick: clock },
  tokens: { label: "tokens read", name: "Tokens", format: short, xTick: tick },
  flops: { label: "FLOPs spent", name: "FLOPs", format: power, xTick: power },
};
const SCALES = [["log", "Logarithmic"], ["linear", "Linear"]];
const CAPTION = `Lower is better, and sooner is better: bits needed to predict one byte of held-out text, while each
  model was trained. A single dot is a model that is made in one go.`;

export function Curves({ details, looks }) {
  const curves = inOrder(looks, details.curves);
  const there = Object.keys(AXES).filter((axis) => curves.some(({ it }) => it.some((point) => point[axis] > 0)));
  const [axis, setAxis] = useState(there[0]);
  const [scale, setScale] = useState("log");
  if (!there.length) return null;
  const series = curves.map((curve) => against(axis, curve)).filter((each) => each.x.length);
  const { label, format, xTick } = AXES[axis];
  return html`<${Section} id="curves" title="How fast each one learns" caption=${CAPTION}>
    <div class="controls">
      <${Switch} label="Against" value=${axis} onChange=${setAxis}
        options=${there.map((each) => [each, AXES[each].name])} />
      <${Switch} label="Scale" value=${scale} onChange=${setScale} options=${SCALES} />
    </div>
    <${Figure} numbers=${numbers(curves)}><${LineChart} series=${series} xLabel=${label} yLabel="bits per byte" xLog=${scale === "log"}
      xFormat=${format} xTick=${xTick} yFormat=${(value) => digits(value, 2)} yRange=${worth(series)}
      height=${340} /><//>
  <//>`;
}

function against(axis, { it, ...look }) {
  const kept = it.filter((point) => point[axis] > 0 && point.bits_per_byte != null);
  kept.sort((a, b) => a[axis] - b[axis]);
  return { ...look, x: kept.map((point) => point[axis]), y: kept.map((point) => point.bits_per_byte) };
}

/** Every point as a row, for those who do not see the chart. */
function numbers(curves) {
  const rows = curves.flatMap(({ name, it }) => it.map((point) => [name, seconds(point.seconds), short(point.tokens),
    power(point.flops), digits(point.bits_per_byte)]));
  return { head: ["model", "time", "tokens", "FLOPs", "bits per byte"], rows };
}

/** The axis leaves out the first steep fall, where every network still guesses: the rest would be a flat line. */
export function worth(series) {
  const all = series.flatMap((each) => each.y);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const top = Math.min(most, Math.max(least * 2.2, quantile(all, 0.75)));
  const gap = (top - least) * 0.08 || 0.1;
  return [Math.max(0, least - gap), top + gap];
}
