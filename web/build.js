// Bundles src/ into one script and one style sheet. Every file in src/views/ is a view: its name is the view's name.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));

const views = {
  name: "views",
  setup(build) {
    build.onResolve({ filter: /^views$/ }, () => ({ path: "views", namespace: "views" }));
    build.onLoad({ filter: /.*/, namespace: "views" }, () => {
      const names = readdirSync(`${here}src/views`).filter((name) => /^[a-z]+\.js$/.test(name)).sort();
      const lines = names.map((name) => `export { default as ${name.slice(0, -3)} } from "./views/${name}";`);
      return { contents: lines.join("\n"), resolveDir: `${here}src` };
    });
  },
};

await build({
  entryPoints: { page: `${here}src/main.js` },
  outdir: process.argv[2] ?? `${here}../chainrule/pages/built`,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2020", "chrome100", "firefox100", "safari15.4"],
  charset: "utf8",
  legalComments: "none",
  banner: { js: "/* chainrule, with uPlot (MIT), D3 (ISC), Preact (MIT) and htm (Apache-2.0) */" },
  plugins: [views],
  logLevel: "warning",
});
