// Where words lie on the screen, and how they are drawn: dots for all, names for those that find room.
import { look, resolved } from "../../palette.js";

const MARGIN = 40, FONT = 12; // pixels

/** A view that shows every place: screen = {x, y} + k · place, y upward. */
export function fitted(places, [width, height]) {
  const [low, high] = [0, 1].map((side) => [0, 1].map((axis) => places.reduce((best, place) =>
    (side ? Math.max : Math.min)(best, place[axis]), side ? -Infinity : Infinity)));
  const spans = [high[0] - low[0] || 1, high[1] - low[1] || 1];
  const k = Math.min((width - 2 * MARGIN) / spans[0], (height - 2 * MARGIN) / spans[1]);
  return { k, base: k, x: width / 2 - k * (low[0] + high[0]) / 2, y: height / 2 + k * (low[1] + high[1]) / 2 };
}

export function zoomed(view, [x, y], factor) {
  const k = Math.max(view.base * 0.5, Math.min(view.base * 400, view.k * factor));
  const share = k / view.k;
  return { ...view, k, x: x - share * (x - view.x), y: y - share * (y - view.y) };
}

/** The view moved so that a place is in the middle, at least four times as large as the whole map. */
export function toward(view, place, [width, height]) {
  const k = Math.max(view.k, 4 * view.base);
  return { ...view, k, x: width / 2 - k * place[0], y: height / 2 + k * place[1] };
}

const onScreen = (view, place) => [view.x + view.k * place[0], view.y - view.k * place[1]];

/** The number of the place nearest to a point of the screen, or null where none is in reach. */
export function nearest(places, view, [x, y], reach) {
  let best = null, gap = reach * reach;
  places.forEach((place, n) => {
    const [px, py] = onScreen(view, place);
    const d = (px - x) ** 2 + (py - y) ** 2;
    if (d < gap) [best, gap] = [n, d];
  });
  return best;
}

export function paint(canvas, places, data, { view, size: [width, height], found, shown, group = null }) {
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  const spots = places.map((place) => onScreen(view, place));
  const inside = ([x, y]) => x > -60 && x < width + 60 && y > -20 && y < height + 20;
  const marked = new Set(found), near = shown == null ? [] : data.near[shown];
  const groups = data.groups?.of, radius = found.length ? 1.2 : groups ? 2.3 : 1.8;
  const colored = (n) => (groups && groups[n] >= 0 && (group === null || groups[n] === group) ? groups[n] : -1);
  for (const each of [...new Set(spots.map((_, n) => colored(n)))].sort((a, b) => a - b)) { // gray ones lie below
    dots(pen, spots.filter((spot, n) => inside(spot) && !marked.has(n) && colored(n) === each),
      each < 0 ? "var(--series-mute)" : look(each).color, each < 0 && groups ? radius * 0.7 : radius);
  }
  rays(pen, spots, shown, near);
  dots(pen, found.map((n) => spots[n]).filter(inside), "var(--series-1)", 3.5);
  dots(pen, near.map((n) => spots[n]), "var(--series-0)", 3);
  if (shown != null) dots(pen, [spots[shown]], "var(--series-1)", 4.5);
  const chosen = data.strong ?? [];
  dots(pen, chosen.map((n) => spots[n]).filter(inside), "var(--ink)", 3.5);
  const rest = (data.first ?? [...data.words.keys()]).filter((n) => group === null || groups[n] === group);
  names(pen, spots, data.words, [shown, ...near, ...found, ...chosen].filter((n) => n != null), rest, inside, [width, height]);
}

function dots(pen, spots, color, radius) {
  pen.fillStyle = resolved(color);
  pen.beginPath();
  for (const [x, y] of spots) {
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 2 * Math.PI);
  }
  pen.fill();
}

function rays(pen, spots, shown, near) {
  pen.strokeStyle = resolved("var(--series-0)");
  pen.globalAlpha = 0.35;
  pen.beginPath();
  for (const n of near) {
    pen.moveTo(...spots[shown]);
    pen.lineTo(...spots[n]);
  }
  pen.stroke();
  pen.globalAlpha = 1;
}

/** Names in the order of importance: what is looked at, then words of content; one that would cover another waits. */
function names(pen, spots, words, first, rest, inside, [width, height]) {
  const taken = new Set(), important = new Set(first);
  pen.textBaseline = "middle";
  const order = [...important, ...rest];
  order.forEach((n, place) => {
    if ((place >= important.size && important.has(n)) || !inside(spots[n])) return;
    const strong = place < important.size;
    pen.font = `${strong ? 600 : 400} ${FONT}px ${resolved("var(--sans)")}`;
    const [x, y] = [spots[n][0] + 6, spots[n][1]];
    const cells = covered(x, y, 7 * words[n].length + 4);
    if (x > width || y > height || cells.some((cell) => taken.has(cell))) return;
    cells.forEach((cell) => taken.add(cell));
    pen.fillStyle = resolved(strong ? "var(--ink)" : "var(--soft)");
    pen.fillText(words[n], x, y);
  });
}

/** The cells of a coarse grid that a name lies on. */
function covered(x, y, length) {
  const found = [], step = FONT;
  for (let row = Math.floor((y - step / 2) / step); row <= Math.floor((y + step / 2) / step); row += 1) {
    for (let column = Math.floor(x / step); column <= Math.floor((x + length) / step); column += 1) found.push(`${row} ${column}`);
  }
  return found;
}
