// The report of `chainrule compare`: the answer first, then the evidence for it.
import { html } from "../html.js";
import { Breakdowns } from "./report/breakdowns.js";
import { Curves } from "./report/curves.js";
import { Differences } from "./report/differences.js";
import { Grid } from "./report/grid.js";
import { Header } from "./report/header.js";
import { named } from "./report/looks.js";
import { Rows } from "./report/rows.js";
import { Notes, Recipes, Samples } from "./report/texts.js";
import { Wins } from "./report/wins.js";
import "./report/report.css";

export default function Report({ data, title }) {
  const { report, details = {} } = data;
  const looks = named(report.rows);
  const given = { report, details, looks };
  return html`
    <${Header} ...${given} title=${title} />
    <${Rows} ...${given} />
    <${Grid} ...${given} />
    <${Differences} ...${given} />
    <${Curves} ...${given} />
    <${Breakdowns} ...${given} />
    <${Wins} ...${given} />
    <${Samples} ...${given} />
    <${Recipes} ...${given} />
    <${Notes} ...${given} />`;
}
