// Draws the charts. Their colours are those of the style sheet by name, so that they follow it: dark, light, printed.
"use strict";
(() => {
  const root = document.documentElement;
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const places = [...document.querySelectorAll("[data-chart]")];

  const colour = (name) => `var(--${name})`;

  // The styles and the range that the specifications name.
  const config = (width) => ({
    background: null,
    font: "system-ui, sans-serif",
    padding: { left: 2, right: 8, top: 16, bottom: 2 },
    view: { stroke: null },
    bar: { stroke: colour("card"), strokeWidth: 0.5 },
    range: { category: [colour("kept"), colour("here"), colour("elsewhere")] },
    style: {
      plain: { color: colour("kept") },
      limit: { color: colour("limit"), strokeWidth: 1.5, strokeDash: [4, 3] },
      "limit-label": { color: colour("limit"), fontSize: 12, fontWeight: 600 },
    },
    axis: {
      labelColor: colour("muted"), titleColor: colour("muted"), gridColor: colour("line"), domainColor: colour("line"),
      tickColor: colour("line"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
      labelLimit: Math.max(90, Math.round(width * 0.34)),
    },
  });

  async function draw(place) {
    const number = Number(place.dataset.chart);
    const options = {
      mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false, config: config(place.clientWidth),
      tooltip: { disableDefaultStyle: true },
    };
    await vegaEmbed(place, specs[number], options);
    // One picture with a name, not hundreds of bars to step through: the numbers are in the text and table below it.
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", specs[number].description);
  }

  async function drawAll() {
    let drawn = 0;
    for (const place of places) {
      try {
        await draw(place);
        drawn += 1;
      } catch (error) {
        console.error(`chart ${place.dataset.chart}: ${error.message}`);
        place.textContent = "This chart could not be drawn; its table holds the numbers.";
      }
      root.dataset.charts = `${drawn}/${places.length}`;
      await new Promise((resume) => setTimeout(resume)); // lets the page be scrolled meanwhile
    }
    root.dataset.ready = "1";
  }

  // Printing shows everything; what was folded is folded again after it.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((part) => { part.open = false; }));

  drawAll();
})();
