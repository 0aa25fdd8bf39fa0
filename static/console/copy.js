// Copy buttons: shown only where copying works, and what they did is announced.

const status = document.getElementById("copy-status");

async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy);
  button.classList.add("done");
  status.textContent = `${button.dataset.done}: ${button.dataset.copy}`;
}

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}
