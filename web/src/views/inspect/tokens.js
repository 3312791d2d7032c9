// Tokens as people read them: pieces of a text with the spaces between words, bits, probabilities.
import { digits } from "../../format.js";

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** The text of a token in its line: word models lose the spaces, so they are put back; an end mark ends the line. */
export function inText(token, before, spaced) {
  const first = !before || before.unit !== token.unit;
  const end = token.token === "</s>" ? "\n" : "";
  return `${spaced && !first ? " " : ""}${token.text}${end}`;
}

export function bits(value) {
  return value == null ? "∞" : digits(value, 2);
}

/** Three leading digits, also of very small numbers. */
export function probability(p) {
  if (p == null) return "–";
  if (p === 0) return "0";
  if (p >= 0.001) return Number(p.toPrecision(3)).toString();
  const [leading, power] = p.toExponential(1).split("e");
  return `${leading}·10${[...power].map((sign) => RAISED[sign]).join("")}`;
}

/** Words with the spaces between them, pieces one after the other. */
export function joined(words, spaced) {
  return words.join(spaced ? " " : "");
}
