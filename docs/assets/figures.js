// Draws the figures of a notebook in the colours of the page, and anew when these change.
const fanlightFigures = [];

function fanlightDress(place) {
  const dark = document.body.dataset.mdColorScheme === "slate";
  const narrow = matchMedia("(max-width: 560px)").matches;
  const sizes = (place.layout.meta || {})[narrow ? "narrow" : "wide"] || {};
  if (sizes.height) place.style.height = sizes.height + "px";
  const template = fanlightThemes[dark ? "dark" : "light"];
  return Plotly.relayout(place, { ...sizes, template });
}

function fanlightFigure(number, figure) {
  const place = document.getElementById("figure-" + number);
  const shown = { displayModeBar: false, responsive: true };
  Plotly.newPlot(place, figure.data, figure.layout, shown).then(fanlightDress);
  fanlightFigures.push(place);
}

addEventListener("DOMContentLoaded", () => {
  const again = () => fanlightFigures.forEach(fanlightDress);
  new MutationObserver(again).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  matchMedia("(max-width: 560px)").addEventListener("change", again);
});
