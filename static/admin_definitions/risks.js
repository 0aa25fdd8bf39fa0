// Shows the warning of a risky value as soon as it is chosen; the server shows the same after saving.

function held(form, name) {
  const field = form.elements.namedItem(name);
  if (field === null) return null;
  return field.type === "checkbox" ? (field.checked ? "on" : "") : field.value;
}

for (const warning of document.querySelectorAll(".risk[data-when]")) {
  const form = warning.closest("form");
  const when = Object.entries(JSON.parse(warning.dataset.when));
  const follow = () => {
    warning.hidden = !when.every(([name, value]) => held(form, name) === value);
  };
  form.addEventListener("change", follow);
  follow();
}
