// The page: reads the data that stands in it, and draws it with the view it names.
import "uplot/dist/uPlot.min.css";
import "./page.css";
import "./plots/plots.css";
import { render } from "preact";
import * as views from "views";
import { html } from "./html.js";

const { view, title, data } = JSON.parse(document.getElementById("data").textContent);
const View = views[view];
const root = document.getElementById("page");
root.dataset.view = view;
render(View ? html`<${View} data=${data} title=${title} />` : html`<p>There is no view named ${view}.</p>`, root);
