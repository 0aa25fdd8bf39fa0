// Shows how far a replay is, and the page anew when it has ended. Without it the page has a link that looks again.

const place = document.querySelector("[data-state]");
const PAUSE = 2000;
let misses = 0;

async function look() {
  try {
    const answer = await fetch(place.dataset.state, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const state = await answer.json();
    misses = 0;
    if (state.finished) {
      window.location.reload();
      return;
    }
    document.getElementById("progress").value = state.done;
    document.getElementById("done").textContent = String(state.done);
  } catch {
    misses += 1;
  }
  if (misses < 5) setTimeout(look, PAUSE);
}

if (place) setTimeout(look, PAUSE);
