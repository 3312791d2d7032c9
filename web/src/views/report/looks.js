// The colors of a comparison: one for each model, ink for mixtures, gray for compressors.
import { INK, MUTE, look } from "../../palette.js";

/** Map from a row's name to {name, color, dash, mark}, in the order of the rows. */
export function named(rows) {
  let models = 0;
  return new Map(rows.map((row) => {
    const own = row.kind === "mixture" ? INK : row.kind === "compressor" ? MUTE : look(models++);
    return [row.name, { name: row.name, ...own }];
  }));
}

/** [{name, color, dash, mark, it}] of each model that `values` says something of, in the order of the rows. */
export function inOrder(looks, values) {
  const known = [...looks.values()].filter((each) => values?.[each.name] != null);
  return known.map((each) => ({ ...each, it: values[each.name] }));
}
