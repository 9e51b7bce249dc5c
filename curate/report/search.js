// Searches the pages, domains and samples that stand in this page: "/" goes there, Escape leaves.
"use strict";
(() => {
  const MOST = 60; // results shown
  const WAIT = 120; // milliseconds after the last key
  const AROUND = 60; // characters shown before and after what was found in a text
  const form = document.getElementById("search");
  const input = form.querySelector("input");
  const list = form.querySelector("ul");
  const status = form.querySelector("[role=status]");
  let things = null;
  let timer = 0;

  // What can be found: rows of some tables, samples and clusters, each with its kind and its text.
  function collected() {
    const found = [];
    for (const place of document.querySelectorAll("[data-found]")) {
      const members = place.tagName === "TABLE" ? place.tBodies[0].rows : [place];
      for (const member of members) {
        const title = (member.querySelector(".url") ?? member.querySelector("th, summary") ?? member).textContent;
        const told = member.textContent;
        found.push({ member, kind: place.dataset.found, title: title.trim(), told, low: told.toLowerCase() });
      }
    }
    return found;
  }

  // Those that hold all words; a title that holds them goes before a text that does.
  function search(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    things ??= collected();
    const inTitle = (thing) => words.every((word) => thing.title.toLowerCase().includes(word));
    const found = things.filter((thing) => words.every((word) => thing.low.includes(word)));
    const hits = found.map((thing) => ({ ...thing, named: inTitle(thing), word: words[0] }));
    return [...hits.filter((hit) => hit.named), ...hits.filter((hit) => !hit.named)];
  }

  function excerpt(hit) {
    if (hit.named) return "";
    const at = hit.low.indexOf(hit.word);
    return `… ${hit.told.slice(Math.max(0, at - AROUND), at + AROUND).replace(/\s+/g, " ").trim()} …`;
  }

  // Opens what hides a thing, brings it into view and marks it.
  function reveal(member) {
    for (let part = member; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (member.hidden) member.closest("table").dispatchEvent(new Event("unfilter"));
    document.querySelectorAll(".found").forEach((other) => other.classList.remove("found"));
    member.classList.add("found");
    member.tabIndex = -1;
    member.focus({ preventScroll: true });
    member.scrollIntoView({ block: "center", behavior: "instant" });
  }

  function result(hit) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    [["kind", hit.kind], ["title", hit.title], ["told", excerpt(hit)]].forEach(([name, content]) => {
      if (!content) return;
      const part = document.createElement("span");
      part.className = name;
      part.textContent = content;
      button.append(part, " ");
    });
    button.addEventListener("click", () => {
      close();
      reveal(hit.member);
    });
    item.append(button);
    return item;
  }

  function show() {
    const hits = search(input.value);
    const counts = new Map();
    for (const hit of hits) counts.set(hit.kind, (counts.get(hit.kind) ?? 0) + 1);
    const kinds = [...counts].map(([kind, number]) => `${number.toLocaleString("en")} ${kind}${number === 1 ? "" : "s"}`);
    const cut = hits.length > MOST ? `; the first ${MOST} are listed` : "";
    status.textContent = !input.value.trim() ? "" : hits.length ? `${kinds.join(", ")}${cut}` : "Nothing found in this report.";
    list.replaceChildren(...hits.slice(0, MOST).map(result));
    form.classList.toggle("open", Boolean(input.value.trim()));
  }

  function close() {
    form.classList.remove("open");
  }

  function step(event, by) {
    const buttons = [...list.querySelectorAll("button")];
    const next = buttons.indexOf(document.activeElement) + by;
    event.preventDefault();
    (next < 0 ? input : (buttons[Math.min(next, buttons.length - 1)] ?? input)).focus();
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    show();
    list.querySelector("button")?.click();
  });
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, WAIT);
  });
  input.addEventListener("focus", show);
  form.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") step(event, 1);
    else if (event.key === "ArrowUp") step(event, -1);
    else if (event.key === "Escape") {
      input.value = "";
      show();
      input.focus();
    }
  });
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) close();
  });
  addEventListener("keydown", (event) => {
    const writing = event.target instanceof Element && event.target.closest("input, textarea, select");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || writing) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
})();
