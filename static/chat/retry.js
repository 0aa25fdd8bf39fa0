// The offer below a result: to try again what failed. One press opens one request, which asks for its confirmation.

import { button, el } from "./dom.js";

export class RetryOffer {
  #texts;
  #button;
  #note;

  /** `onPress()` sends the request; what comes of it is told by `reopen` or `close`. */
  constructor(texts, onPress) {
    this.#texts = texts;
    this.#note = el("p", { class: "card-note", role: "status", tabindex: "-1" });
    this.#button = button(
      texts.retry,
      () => {
        this.#tell(texts.answering);
        this.#note.focus({ preventScroll: true });
        this.#button.disabled = true;
        onPress();
      },
      { class: "secondary" },
    );
    this.element = el("div", { class: "retry" }, el("div", { class: "actions" }, this.#button), this.#note);
  }

  /** It may be pressed again: it was not accepted, for `reason`, or what it opened ended without doing anything. */
  reopen(reason = "") {
    this.#button.disabled = false;
    this.#tell(reason, reason !== "");
  }

  /** It was pressed, here or in another window, or asked for in words; or it may never be pressed, for `reason`. */
  close(reason = "") {
    this.#button.disabled = true;
    this.#tell(reason || this.#texts.retried, reason !== "");
  }

  #tell(note, isTrouble = false) {
    this.#note.textContent = note;
    this.#note.classList.toggle("trouble", isTrouble);
  }
}
