// Numbers as people read them; what is missing is a dash.
const NONE = "–";
const known = (value) => typeof value === "number" && Number.isFinite(value);

export function digits(value, places = 3) {
  return known(value) ? value.toFixed(places) : NONE;
}

export function signed(value, places = 3) {
  return known(value) ? (value > 0 ? "+" : value < 0 ? "−" : "±") + Math.abs(value).toFixed(places) : NONE;
}

/** Two places, or as many as it takes to see that it is not zero: −0.003 is not "−0.00". */
export function signedEnough(value) {
  if (!known(value)) return NONE;
  if (value === 0) return "0";
  const places = [2, 3, 4, 5].find((each) => Number(Math.abs(value).toFixed(each)) > 0);
  return places ? signed(value, places) : value > 0 ? "<+0.00001" : ">−0.00001";
}

export function whole(value) {
  return known(value) ? Math.round(value).toLocaleString("en-US") : NONE;
}

export function percent(share, places = 0) {
  return known(share) ? `${(100 * share).toFixed(places)} %` : NONE;
}

/** 1234567 is "1.23 M"; small numbers stay as they are. */
export function short(value) {
  return scaled(value, 1000, ["", "K", "M", "G", "T", "P", "E", "Z"]);
}

export function bytes(value) {
  return scaled(value, 1000, ["B", "kB", "MB", "GB", "TB"]);
}

function scaled(value, base, units) {
  if (!known(value)) return NONE;
  let power = 0;
  while (Math.abs(value) >= base * 0.9995 && power < units.length - 1) [value, power] = [value / base, power + 1];
  const shown = power === 0 && Number.isInteger(value) ? String(value) : Number(value.toPrecision(3)).toString();
  return units[power] ? `${shown}\u00a0${units[power]}` : shown;
}

export function seconds(value) {
  if (!known(value)) return NONE;
  if (value < 1) return `${Number((value * 1000).toPrecision(2))}\u00a0ms`;
  if (value < 60) return `${Number(value.toPrecision(2))}\u00a0s`;
  const [minutes, hours] = [Math.round(value / 60), value / 3600];
  const rest = Math.round(value) % 60;
  if (value < 600) return `${Math.floor(Math.round(value) / 60)}\u00a0min${rest ? `\u00a0${rest}\u00a0s` : ""}`;
  return hours < 2 ? `${minutes}\u00a0min` : `${Number(hours.toPrecision(3))}\u00a0h`;
}

/** 1234567 is "1.2×10⁶". */
export function power(value) {
  if (!known(value)) return NONE;
  if (Math.abs(value) < 1e4) return Number(value.toPrecision(3)).toString();
  const [digit, exponent] = value.toExponential(1).split("e");
  const raised = [...String(Number(exponent))].map((each) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[each] ?? "⁻").join("");
  return digit === "1.0" ? `10${raised}` : `${digit.replace(/\.0$/, "")}×10${raised}`;
}

/** Labels of a logarithmic or linear axis: as short as they can be. */
export function tick(value) {
  if (!known(value)) return "";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e18) return value.toExponential(0).replace("e+", "e");
  if (size >= 1e4) return short(value);
  return Number(value.toPrecision(4)).toString();
}
