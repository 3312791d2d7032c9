// `html` turns a template into elements. Text in it is always text: nothing is ever parsed as markup.
import htm from "htm";
import { h } from "preact";

export const html = htm.bind(h);
