// A box for what may be wider than the screen: it scrolls, and shows at which side there is more.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";

const NEAR = 4; // pixels from an end that count as the end

/** <Scroll label="…">…</Scroll>: label is for those who cannot see it. */
export function Scroll({ label, children }) {
  const box = useRef(null);
  const [sides, setSides] = useState("");
  useEffect(() => {
    const measure = () => setSides(beyond(box.current));
    measure();
    const sized = new ResizeObserver(measure);
    sized.observe(box.current);
    if (box.current.firstElementChild) sized.observe(box.current.firstElementChild);
    return () => sized.disconnect();
  }, []);
  return html`<div class=${`scrolled ${sides}`}>
    <div class="scroll-frame"><div class="scroll" ref=${box} tabindex="0" role="region" aria-label=${label}
      onScroll=${() => setSides(beyond(box.current))}>${children}</div></div>
    <p class="scroll-hint no-print" aria-hidden="true">There is more to the right: scroll sideways.</p>
  </div>`;
}

function beyond({ scrollLeft, clientWidth, scrollWidth }) {
  return [scrollLeft > NEAR && "more-left", scrollLeft + clientWidth < scrollWidth - NEAR && "more-right"].filter(Boolean).join(" ");
}
