// One color for a name, everywhere on a page. Colors are CSS variables: dark screens and paper have their own.
const COLORS = 8; // Okabe and Ito's, which people who see colors differently can tell apart, made darker for thin lines
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]]; // more names than colors go on with these

/** Map from each name to {color, dash}: `color` is a CSS value such as "var(--series-0)". */
export function palette(names) {
  return new Map(names.map((name, n) => [name, look(n)]));
}

export function look(n) {
  return { color: `var(--series-${n % COLORS})`, dash: DASHES[Math.floor(n / COLORS) % DASHES.length] };
}

export const INK = { color: "var(--series-ink)", dash: [6, 3] }; // for what stands beside the series, such as a mixture
export const MUTE = { color: "var(--series-mute)", dash: [2, 3] };

/** What a CSS value is now, for a canvas: resolved("var(--ink)") is "#1d2026" on paper and on light screens. */
export function resolved(css) {
  const name = /^var\((--[\w-]+)\)$/.exec(css);
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name[1]).trim() : css;
}

/** Calls `redraw` when the colors change: another color scheme, or paper. Gives a function that stops it. */
export function onLookChange(redraw) {
  const media = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));
  const now = () => redraw();
  media.forEach((each) => each.addEventListener("change", now));
  return () => media.forEach((each) => each.removeEventListener("change", now));
}
