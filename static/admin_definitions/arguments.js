// Makes the table of arguments handier: rows are added and moved with buttons. Without it the numbers do the same.

const group = document.getElementById("arguments-group");
const template = document.getElementById("argument-row");

function rows() {
  return [...table.querySelectorAll("tbody.argument")];
}

function position(row) {
  return row.querySelector("input[name$='-position']");
}

function nameOf(row) {
  return row.querySelector("input[name$='-name']").value;
}

function renumber() {
  rows().forEach((row, index) => {
    position(row).value = index + 1;
  });
}

function move(row, step, button) {
  const other = step < 0 ? row.previousElementSibling : row.nextElementSibling;
  if (other === null || !other.matches("tbody.argument")) return;
  if (step < 0) other.before(row);
  else other.after(row);
  renumber();
  button.focus();
  document.getElementById("arguments-status").textContent = table.dataset.moved
    .replace("{name}", nameOf(row))
    .replace("{n}", position(row).value);
}

function add() {
  const total = group.querySelector("input[name='arguments-TOTAL_FORMS']");
  const row = template.content.querySelector("tbody").cloneNode(true);
  for (const element of row.querySelectorAll("*")) {
    for (const attribute of [...element.attributes]) {
      if (attribute.value.includes("__prefix__")) {
        element.setAttribute(attribute.name, attribute.value.replace("__prefix__", total.value));
      }
    }
  }
  table.append(row);
  total.value = Number(total.value) + 1;
  prepare(row);
  renumber();
  row.querySelector("input[name$='-name']").focus();
}

function prepare(row) {
  row.querySelector(".move").hidden = false;
  for (const button of row.querySelectorAll("button[data-move]")) {
    button.addEventListener("click", () => move(row, Number(button.dataset.move), button));
  }
  const remove = row.querySelector("input[name$='-DELETE']");
  if (remove !== null) {
    const mark = () => row.classList.toggle("removed", remove.checked);
    remove.addEventListener("change", mark);
    mark();
  }
}

function dropBlanks() {
  const total = group.querySelector("input[name='arguments-TOTAL_FORMS']");
  for (const row of rows().reverse()) {
    if (!("blank" in row.dataset)) return;
    row.remove();
    total.value = Number(total.value) - 1;
  }
}

const table = group === null ? null : group.querySelector("table");
if (table !== null && template !== null) {
  dropBlanks();
  rows().forEach(prepare);
  const button = group.querySelector(".add-argument");
  button.hidden = false;
  button.addEventListener("click", add);
}
