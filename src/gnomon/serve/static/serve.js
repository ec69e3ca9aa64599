"use strict";
// pages work without this: it looks again while a comparison runs, takes dropped files, and says early what is too large
const again = async () => {
  const job = document.querySelector("[data-live]");
  if (!job) return;
  try {
    const page = async (path) => {
      const answer = await fetch(path, { headers: { accept: "text/html" } });
      if (answer.status === 401 || answer.status === 404) location.reload(); // taken back or deleted: the server says so
      return new DOMParser().parseFromString(await answer.text(), "text/html");
    };
    const fresh = (await page(job.dataset.live)).querySelector("#job");
    if (fresh && fresh.dataset.finished === job.dataset.finished) {
      if (fresh.innerHTML !== job.innerHTML && !job.contains(document.activeElement)) job.replaceChildren(...fresh.childNodes);
    } else if (fresh) {
      const main = document.querySelector("main");
      main.replaceChildren(...(await page(location.href)).querySelector("main").childNodes);
      dispatchEvent(new Event("placed")); // charts
    }
  } catch { /* the server is away: look again later */ }
  setTimeout(again, document.hidden ? 5000 : 1000);
};
setTimeout(again, 400);
for (const form of document.querySelectorAll("[data-files]")) {
  const input = form.querySelector("input[type=file]"), drop = form.querySelector("[data-drop]"), error = form.querySelector("[data-error]");
  const size = (bytes) => `${Number((bytes / 1e6).toPrecision(3))} MB`;
  const check = () => {
    const files = [...input.files], each = Number(form.dataset.maxFile), all = Number(form.dataset.maxUpload);
    const large = files.find((file) => file.size > each), sum = files.reduce((total, file) => total + file.size, 0);
    error.textContent = large ? `${large.name} has ${size(large.size)}; this server takes ${size(each)} a file. Send a part of it.` : sum > all ? `These files have ${size(sum)}; this server takes ${size(all)} together.` : "";
    return !error.textContent;
  };
  input.addEventListener("change", check);
  form.addEventListener("submit", (event) => { if (!check()) { event.preventDefault(); input.focus(); } });
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); drop.classList.remove("over"); input.files = event.dataTransfer.files; check(); });
}
