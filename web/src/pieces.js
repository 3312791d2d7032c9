// The small pieces that pages are put together from: sections, figures, switches, a command to copy.
import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";
import { Scroll } from "./plots/scroll.js";

/** A part of the page: <Section id title caption>…</Section>. */
export function Section({ id, title, caption, children }) {
  return html`<section class="section" id=${id} aria-labelledby=${`${id}-title`}>
    <h2 id=${`${id}-title`}>${title}</h2>
    ${caption && html`<p class="caption">${caption}</p>`}
    <div class="body">${children}</div>
  </section>`;
}

/** A chart with its title and the line that explains it. `numbers`: {head: [...], rows: [[...]]}, shown on demand. */
export function Figure({ title, caption, numbers, wide, children }) {
  return html`<figure class=${wide ? "figure wide-figure" : "figure"}>
    ${title && html`<h3>${title}</h3>`}
    ${caption && html`<figcaption>${caption}</figcaption>`}
    ${children}
    ${numbers && html`<${Numbers} ...${numbers} />`}
  </figure>`;
}

function Numbers({ head, rows }) {
  const [open, setOpen] = useState(false);
  return html`<details class="numbers" onToggle=${(event) => setOpen(event.target.open)}>
    <summary>Numbers</summary>
    ${open && html`<${Scroll} label="Numbers"><table class="plain">
      <thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${row.map((cell, n) => n
        ? html`<td class="number">${cell}</td>` : html`<th scope="row">${cell}</th>`)}</tr>`)}</tbody>
    </table><//>`}
  </details>`;
}

/** One of a few: options are [[value, label], …]. Arrow keys move the choice. */
export function Switch({ label, options, value, onChange }) {
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = options.findIndex(([each]) => each === value);
    const next = (at + step + options.length) % options.length;
    onChange(options[next][0]);
    event.currentTarget.children[next].focus();
  };
  return html`<span class="control"><span>${label}</span>
    <span class="switch" role="radiogroup" aria-label=${label} onKeyDown=${move}>
      ${options.map(([each, text]) => html`<button type="button" role="radio" aria-checked=${String(each === value)}
        tabindex=${each === value ? 0 : -1} onClick=${() => onChange(each)}>${text}</button>`)}
    </span></span>`;
}

/** One of many: options are [[value, label], …]. */
export function Choice({ label, options, value, onChange }) {
  return html`<label class="control"><span>${label}</span>
    <select aria-label=${label} value=${value} onChange=${(event) => onChange(event.target.value)}>
      ${options.map(([each, text]) => html`
        <option value=${each} selected=${String(each) === String(value)}>${text}</option>`)}
    </select></label>`;
}

/** A text in type of one width, and a button that copies it. */
export function Command({ text }) {
  return html`<div class="command"><pre><code>${text}</code></pre><${Copy} text=${text} /></div>`;
}

export function Copy({ text }) {
  const [told, tell] = useState("Copy");
  useEffect(() => {
    if (told === "Copy") return undefined;
    const timer = setTimeout(() => tell("Copy"), 1600);
    return () => clearTimeout(timer);
  }, [told]);
  const copy = () => copied(text).then((worked) => tell(worked ? "Copied" : "Select and copy by hand"));
  return html`<button type="button" class="copy" onClick=${copy} aria-live="polite">${told}</button>`;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // no clipboard for this page: by way of a selected text
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    const worked = document.execCommand("copy");
    area.remove();
    return worked;
  }
}
