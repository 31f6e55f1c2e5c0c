"use strict";

/* Tables: a heading sorts its column, long tables begin with their first rows and have a filter. */
const SHOWN = 20;

function cellOf(row, column) {
  const cell = row.cells[column];
  const value = cell.dataset.value;
  return value === undefined ? cell.textContent.trim() : value === "" ? "" : Number(value);
}

function compareCells(one, two) {
  if (typeof one === "number" && typeof two === "number") return one - two;
  return String(one).localeCompare(String(two), undefined, { numeric: true });
}

/* Rows without a value are last in both directions; equal rows keep their order. */
function sortRows(rows, column, direction) {
  return rows
    .map((row, at) => ({ row, at, value: cellOf(row, column) }))
    .sort((one, two) => {
      if ((one.value === "") !== (two.value === "")) return one.value === "" ? 1 : -1;
      return direction * compareCells(one.value, two.value) || one.at - two.at;
    })
    .map((each) => each.row);
}

function sortTable(table, heading) {
  const numeric = heading.classList.contains("number");
  const before = heading.getAttribute("aria-sort");
  const next = before === "ascending" ? "descending" : before === "descending" ? "ascending" : null;
  const order = next || (numeric && table.classList.contains("long") ? "descending" : "ascending");
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", order);
  const body = table.tBodies[0];
  body.append(...sortRows([...body.rows], heading.cellIndex, order === "ascending" ? 1 : -1));
  table.dispatchEvent(new Event("arranged"));
}

function limitRows(table) {
  const section = table.closest("section, article");
  const filter = table.parentElement.previousElementSibling;
  const input = filter && filter.querySelector("input");
  const rows = () => [...table.tBodies[0].rows];
  const more = document.createElement("button");
  more.type = "button";
  more.className = "all";
  let all = rows().length <= SHOWN + 5;
  const arrange = () => {
    const wanted = input ? input.value.trim().toLowerCase() : "";
    let shown = 0;
    for (const row of rows()) {
      const fits = !wanted || row.textContent.toLowerCase().includes(wanted);
      row.hidden = !fits || (!all && !wanted && shown >= SHOWN);
      shown += fits;
    }
    more.textContent = all ? `show the first ${SHOWN}` : `show all ${rows().length}`;
    more.hidden = wanted !== "" || rows().length <= SHOWN + 5;
  };
  more.addEventListener("click", () => { all = !all; arrange(); });
  table.addEventListener("arranged", arrange);
  table.parentElement.after(more);
  if (input && rows().length > 8) {
    filter.hidden = false;
    input.setAttribute("aria-label", `filter ${section.querySelector("h3, h2").textContent}`);
    input.addEventListener("input", arrange);
  }
  arrange();
}

function startTables() {
  for (const button of document.querySelectorAll("button.sort")) {
    button.addEventListener("click", () => sortTable(button.closest("table"), button.closest("th")));
  }
  for (const table of document.querySelectorAll("table.long")) limitRows(table);
}
