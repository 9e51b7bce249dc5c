// Lets every table be sorted by its headings and filtered by words. Without script the tables stand as they are.
"use strict";
(() => {
  const NUMBER = /^([-−+]?[\d,]*\.?\d+(?:e[-+]?\d+)?)\s*(%|bytes|kB|MB|GB|TB|million|billion|points)?(\s+to\s.*)?$/i;
  const UNITS = { kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, million: 1e6, billion: 1e9 };
  const LEAST_ROWS = 2; // there is nothing to sort in one
  const ARROWS = { ascending: "▲", descending: "▼", none: "↕" };

  const text = (row, column) => row.cells[column]?.textContent.trim() ?? "";

  // A cell as a number: 1,234, 12.5 %, 1.3 GB, the lower end of a range. null where it is none.
  function number(cell) {
    const found = NUMBER.exec(cell);
    if (!found) return null;
    return Number(found[1].replaceAll(",", "").replace("−", "-")) * (UNITS[found[2]?.toLowerCase()] ?? 1);
  }

  const isBlank = (cell) => cell === "" || cell === "–";

  // Rows with the parts that belong to each, which stay under it, and the totals, which stay at the end.
  function blocksOf(body) {
    const blocks = [], totals = [];
    for (const row of body.rows) {
      if (row.classList.contains("total")) totals.push(row);
      else if (row.classList.contains("part") && blocks.length) blocks.at(-1).parts.push(row);
      else blocks.push({ head: row, parts: [] });
    }
    return { blocks, totals };
  }

  // Orders rows by a column; blanks come last either way, equal ones stay as they were.
  function order(rows, column, direction, rowOf) {
    const cells = new Map(rows.map((row) => [row, text(rowOf(row), column)]));
    const filled = [...cells.values()].filter((cell) => !isBlank(cell));
    const numeric = filled.every((cell) => number(cell) !== null);
    const sign = direction === "descending" ? -1 : 1;
    return [...rows].sort((one, other) => {
      const [a, b] = [cells.get(one), cells.get(other)];
      if (isBlank(a) || isBlank(b)) return Number(isBlank(a)) - Number(isBlank(b));
      return sign * (numeric ? number(a) - number(b) : a.localeCompare(b, "en", { numeric: true }));
    });
  }

  function sorter(table) {
    const body = table.tBodies[0];
    const written = blocksOf(body);
    const headings = [...table.tHead.rows[0].cells];

    function show(column, direction) {
      const parts = (block) => (direction === "none" ? block.parts : order(block.parts, column, direction, (row) => row));
      const blocks =
        direction === "none" ? written.blocks : order(written.blocks, column, direction, (block) => block.head);
      body.append(...blocks.flatMap((block) => [block.head, ...parts(block)]), ...written.totals);
      headings.forEach((heading, place) => {
        const own = place === column ? direction : "none";
        if (own === "none") heading.removeAttribute("aria-sort");
        else heading.setAttribute("aria-sort", own);
        const arrow = heading.querySelector(".arrow");
        if (arrow) arrow.textContent = ARROWS[own];
      });
    }

    // Numbers begin with the largest, names with the first; the third time the rows are as they were written.
    function next(column) {
      const first = headings[column].classList.contains("number") ? "descending" : "ascending";
      const second = first === "descending" ? "ascending" : "descending";
      const now = headings[column].getAttribute("aria-sort") ?? "none";
      return { none: first, [first]: second, [second]: "none" }[now];
    }

    headings.forEach((heading, column) => {
      const title = heading.textContent;
      if (!title) return;
      const button = document.createElement("button");
      const arrow = document.createElement("span");
      button.type = "button";
      button.className = "sort";
      arrow.className = "arrow";
      arrow.setAttribute("aria-hidden", "true");
      arrow.textContent = ARROWS.none;
      button.append(title, "\u00a0", arrow);
      button.addEventListener("click", () => show(column, next(column)));
      heading.replaceChildren(button);
    });
  }

  // Shows the rows that hold all words; a row with parts stays with those that do, and parts stay with their row.
  function filterer(table) {
    const tools = document.createElement("div");
    const input = document.createElement("input");
    const status = document.createElement("span");
    const { blocks } = blocksOf(table.tBodies[0]);
    const all = blocks.reduce((sum, block) => sum + 1 + block.parts.length, 0);
    tools.className = "tools";
    input.type = "search";
    input.placeholder = "Filter rows";
    input.setAttribute("aria-label", `Filter rows: ${table.caption.textContent}`);
    status.setAttribute("role", "status");

    function show() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const holds = (row) => {
        const told = row.textContent.toLowerCase();
        return words.every((word) => told.includes(word));
      };
      let shown = 0;
      for (const { head, parts } of blocks) {
        const whole = holds(head);
        for (const part of parts) part.hidden = !whole && !holds(part);
        head.hidden = !whole && parts.every((part) => part.hidden);
        shown += [head, ...parts].filter((row) => !row.hidden).length;
      }
      status.textContent = words.length ? `${shown.toLocaleString("en")} of ${all.toLocaleString("en")} rows` : "";
    }

    input.addEventListener("input", show);
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !input.value) return;
      input.value = "";
      show();
    });
    table.addEventListener("unfilter", () => {
      input.value = "";
      show();
    });
    tools.append(input, status);
    table.parentElement.before(tools);
  }

  for (const table of document.querySelectorAll("main table")) {
    if (!table.tHead || table.tBodies[0].rows.length < LEAST_ROWS) continue;
    sorter(table);
    filterer(table);
  }
})();
