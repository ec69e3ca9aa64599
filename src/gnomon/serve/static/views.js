"use strict";
// Pages of a study that runs: what changed is said, and nothing moves by itself.
for (const box of document.querySelectorAll("[data-poll]")) {
  let tag = "", wait = 2000;
  const look = async () => {
    try {
      const answer = await fetch(box.dataset.poll, {headers: tag ? {"If-None-Match": tag} : {}});
      if (answer.status === 200) {
        const far = await answer.json(), text = box.querySelector("[data-far]"), bar = box.querySelector("progress");
        tag = answer.headers.get("ETag") || "";
        if (text) text.textContent = `${far.done} of ${far.planned} steps are done`;
        if (bar) { bar.max = far.planned; bar.value = far.done; }
        if (far.done > Number(box.dataset.done)) box.querySelector("[data-new]").hidden = false;
        if (far.state === "done") return;
        wait = 2000;
      } else if (answer.status === 401 || answer.status === 404) {
        location.reload(); // taken back or deleted: the server says so
        return;
      } else { wait = Math.min(wait * 1.5, 15000); }
    } catch { wait = 15000; }
    setTimeout(look, wait);
  };
  setTimeout(look, wait);
}
// What is being made: the page is shown anew when it is ready.
for (const box of document.querySelectorAll("[data-poll-made]")) {
  const look = async () => {
    try {
      const answer = await fetch(box.dataset.pollMade);
      if (answer.status === 401 || answer.status === 404) { location.reload(); return; }
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-poll-made]");
      if (!fresh) { location.reload(); return; }
      box.replaceChildren(...fresh.childNodes);
    } catch { /* the server may be starting anew */ }
    setTimeout(look, 2000);
  };
  setTimeout(look, 2000);
}
