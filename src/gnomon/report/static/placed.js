// Charts that stand as data where they are to be drawn, also in what comes later into the page.
const drawPlaced = () => {
  for (const place of document.querySelectorAll("[data-chart]:has(> script)")) {
    const panel = JSON.parse(place.querySelector("script").textContent);
    place.replaceChildren();
    drawPanel(place, panel, {name: place.dataset.chart});
  }
};
addEventListener("placed", drawPlaced);
drawPlaced();
