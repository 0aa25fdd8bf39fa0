// The transcript: what was said, in order, announced once, and always scrolled to the newest line.

import { button, el } from "./dom.js";

export class Transcript {
  #log;
  #typing;
  #texts;
  #bubbles = new Map();

  constructor({ log, typing, texts }) {
    this.#log = log;
    this.#typing = typing;
    this.#texts = texts;
  }

  /** History is not read aloud; what comes after it is. */
  set isAnnounced(isAnnounced) {
    this.#log.setAttribute("aria-live", isAnnounced ? "polite" : "off");
  }

  set isWaiting(isWaiting) {
    this.#typing.hidden = !isWaiting;
    if (isWaiting) this.#scroll(false);
  }

  clear() {
    this.#log.replaceChildren();
    this.#bubbles.clear();
  }

  add(element) {
    const wasAtEnd = this.#isAtEnd;
    this.#log.append(element);
    this.#scroll(wasAtEnd);
  }

  /** A text of the user: shown when it is sent, settled when the server tells it back. */
  user(id, text, { isPending }) {
    let bubble = this.#bubbles.get(id);
    if (!bubble) {
      bubble = this.#bubble("user", this.#texts.you, text);
      this.#bubbles.set(id, bubble);
      this.#log.append(bubble);
      this.#scroll(true);
    }
    this.#mark(bubble, isPending ? [this.#texts.sending] : []);
    return bubble;
  }

  failed(id, reason, onAgain) {
    const bubble = this.#bubbles.get(id);
    if (!bubble) return;
    const again = button(this.#texts.sendAgain, () => {
      bubble.remove();
      this.#bubbles.delete(id);
      onAgain(bubble.querySelector(".text").textContent);
    });
    this.#mark(bubble, [`${this.#texts.notSent} ${reason} `, again]);
    bubble.classList.add("failed");
  }

  queued(id) {
    const bubble = this.#bubbles.get(id);
    if (bubble) this.#mark(bubble, [this.#texts.queued]);
  }

  assistant(text) {
    this.add(this.#bubble("assistant", this.#texts.assistant, text));
  }

  note(text) {
    this.add(el("p", { class: "note" }, text));
  }

  suggestions(phrases, onPick) {
    const chips = phrases.map((phrase) => button(phrase, () => onPick(phrase), { class: "chip" }));
    const bubble = this.#bubble("assistant", this.#texts.assistant, this.#texts.greeting);
    bubble.append(el("div", { class: "chips" }, ...chips));
    this.#log.prepend(bubble);
  }

  #bubble(side, who, text) {
    return el(
      "div",
      { class: `bubble ${side}` },
      el("span", { class: "visually-hidden" }, `${who}: `),
      el("p", { class: "text" }, text),
    );
  }

  #mark(bubble, content) {
    bubble.querySelector(".mark")?.remove();
    if (content.length) bubble.append(el("p", { class: "mark" }, ...content));
  }

  get #isAtEnd() {
    const box = this.#log.parentElement;
    return box.scrollHeight - box.scrollTop - box.clientHeight < 160;
  }

  /** Follow the newest line, unless the user is reading further up. */
  #scroll(isForced) {
    if (!isForced && !this.#isAtEnd) return;
    const box = this.#log.parentElement;
    box.scrollTop = box.scrollHeight;
  }
}
