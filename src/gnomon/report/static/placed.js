// Charts that stand as data where they are to be drawn, also in what comes later into the page.
const drawPlaced = () => {
  for (const place of document.querySelectorAll("[data-chart]:has(> script)")) {
    const panel = JSON.parse(place.querySelector("script").textContent);
    place.replaceChildren();
    const pick = (names) => { location.href = `${place.dataset.segments}&${new URLSearchParams(panel.leads.map((key, n) => [key, names[n]]))}`; };
    drawPanel(place, panel, {name: place.dataset.chart, pick: place.dataset.segments ? pick : null});
  }
};
addEventListener("placed", drawPlaced);
// charts in a fold are drawn as soon as there is room for them
document.addEventListener("toggle", () => redraws.forEach((draw) => draw(false)), true);
drawPlaced();
