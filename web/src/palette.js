// One color for a name, everywhere on a page. Colors are CSS variables: dark screens and paper have their own.
const COLORS = 8; // Okabe and Ito's, which people who see colors differently can tell apart, made darker for thin lines
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]]; // more names than colors go on with these: 32 can be told apart
const RULES = ["solid", "dashed", "dotted", "double"]; // the same for borders and underlines
const STRIPES = [0, 4, 2, 7]; // pixels of a stripe, for surfaces

/** Map from each name to {color, dash, mark}: `color` is a CSS value such as "var(--series-0)"; `mark` is how many
 * names before had the same color, 0 to 3. */
export function palette(names) {
  return new Map(names.map((name, n) => [name, look(n)]));
}

export function look(n) {
  const mark = Math.floor(n / COLORS) % DASHES.length;
  return { color: `var(--series-${n % COLORS})`, dash: DASHES[mark], mark };
}

/** The style of a border or an underline in CSS. */
export const rule = (mark = 0) => RULES[mark];

/** A surface as a CSS background: plain, or in stripes where the color is another's already. */
export function surface({ color, mark = 0 }) {
  const wide = STRIPES[mark];
  return mark ? `repeating-linear-gradient(45deg,${color} 0 ${wide}px,transparent ${wide}px ${wide + 3}px)` : color;
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
