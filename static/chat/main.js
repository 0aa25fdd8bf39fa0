// The chat page: the protocol's events become lines and cards, and the user's words become frames.

import { ConfirmationCard, ProgressCard, resultCard, WITHOUT_EFFECT } from "./card.js";
import { button } from "./dom.js";
import { textsFor } from "./i18n.js";
import { Chat } from "./protocol.js";
import { RetryOffer } from "./retry.js";
import { Transcript } from "./view.js";

const page = document.getElementById("chat");
const config = JSON.parse(page.dataset.config);
const texts = textsFor(config.locale);
const input = document.getElementById("message");
const form = document.getElementById("composer");
const limit = document.getElementById("limit");
const banner = document.getElementById("connection");
const transcript = new Transcript({
  log: document.getElementById("log"),
  typing: document.getElementById("typing"),
  texts,
});
const chat = new Chat(config);
const LONGEST = 4000;
const NEARLY = 3600;
const confirmations = new Map();
const progress = new Map();
const answers = new Map();
const offers = new Map();
const parents = new Map();
const retries = new Map();

// What is shown ----------------------------------------------------------------------------------------------------

const WORKING = new Set(["transaction.started", "pre_validation.finished", "confirmation.answered", "execution.started"]);

const show = {
  "user.message": ({ data }) => transcript.user(data.client_message_id, data.text, { isPending: false }),
  "assistant.message": ({ data }) => transcript.assistant(data.text),
  "parameters.requested": ({ data }) => transcript.assistant(data.text),
  "transaction.started": showStarted,
  "turn.queued": ({ data }) => {
    transcript.queued(data.client_message_id);
    if (data.text) transcript.assistant(data.text);
  },
  "confirmation.requested": showConfirmation,
  "confirmation.answered": ({ data }) => close(data.confirmation_id, data.decision),
  "execution.started": (frame) => {
    closeAllOf(frame.transaction_id, "confirm");
    progress.get(frame.transaction_id)?.element.remove();
    const card = new ProgressCard(texts);
    progress.set(frame.transaction_id, card);
    transcript.add(card.element);
  },
  "items.progress": (frame) => progress.get(frame.transaction_id)?.update(frame.data),
  "transaction.verifying": showResult,
  "transaction.finished": showResult,
};

function showConfirmation(frame) {
  const known = confirmations.get(frame.data.confirmation_id);
  if (known?.isOpen) {
    known.renew(frame);
    transcript.add(known.element);
    return;
  }
  closeAllOf(frame.transaction_id, "replaced");
  const card = new ConfirmationCard(frame, texts, (decision, keys) => {
    answers.set(chat.answer(card.id, decision, keys), card);
  });
  confirmations.set(card.id, card);
  transcript.add(card.element);
}

function showStarted({ transaction_id: id, data }) {
  if (data.label) transcript.note(texts.started(data.label));
  if (!data.parent_id) return;
  parents.set(id, data.parent_id);
  offers.get(data.parent_id)?.close();
}

/** A button below a result of which something may be tried again. */
function offerOf(frame) {
  const id = frame.transaction_id;
  if (WITHOUT_EFFECT.has(frame.data.status)) offers.get(parents.get(id))?.reopen();
  if (frame.data.retry !== true) return null;
  const offer = new RetryOffer(texts, () => retries.set(chat.retry(id), offer));
  offers.set(id, offer);
  return offer.element;
}

function showResult(frame) {
  closeAllOf(frame.transaction_id, frame.data.status === "EXPIRED" ? "expired" : "ended");
  progress.get(frame.transaction_id)?.element.remove();
  progress.delete(frame.transaction_id);
  const consoleUrl = config.consoleUrl && `${config.consoleUrl}${frame.transaction_id}/`;
  transcript.add(resultCard(frame, texts, { consoleUrl, offer: offerOf(frame) }));
}

function close(confirmationId, how) {
  confirmations.get(confirmationId)?.close(how);
}

function closeAllOf(transactionId, how) {
  for (const card of confirmations.values()) if (card.transactionId === transactionId) card.close(how);
}

// What happens -----------------------------------------------------------------------------------------------------

let isLive = false;

chat.addEventListener("event", ({ detail: frame }) => {
  show[frame.kind]?.(frame);
  if (frame.kind === "user.message" || WORKING.has(frame.kind)) transcript.isWaiting = true;
  else if (frame.kind !== "items.progress" && frame.kind !== "turn.queued") transcript.isWaiting = false;
});

chat.addEventListener("ready", () => {
  if (isLive) return;
  isLive = true;
  // One frame later, so that the history is in place before the log begins to speak.
  requestAnimationFrame(() => (transcript.isAnnounced = true));
});

chat.addEventListener("ack", ({ detail: frame }) => {
  answers.delete(frame.client_message_id);
  retries.delete(frame.client_message_id);
});

chat.addEventListener("failed", ({ detail: { id, code } }) => {
  const reason = texts.error[code] ?? texts.error.other;
  const card = answers.get(id);
  answers.delete(id);
  const offer = retries.get(id);
  retries.delete(id);
  if (offer && code === "invalid_items") offer.close(texts.noRetry);
  else if (offer) offer.reopen(code === "busy" ? texts.finishFirst : reason);
  else if (card && code === "confirmation_closed") card.close("ended", reason);
  else if (card) card.reopen(reason);
  else transcript.failed(id, reason, say);
});

chat.addEventListener("reset", () => {
  transcript.clear();
  for (const map of [confirmations, progress, answers, offers, parents, retries]) map.clear();
  greet();
});

chat.addEventListener("state", ({ detail: state }) => {
  page.dataset.state = state;
  const isShown = state === "offline" || state === "refused" || state === "expired";
  if (state !== "connecting") banner.hidden = !isShown;
  if (isShown) banner.replaceChildren(texts[state], ...(state === "expired" ? [reloadButton()] : []));
});

function reloadButton() {
  return button(texts.reload, () => location.reload());
}

// What the user does -----------------------------------------------------------------------------------------------

function say(text) {
  const id = chat.send(text);
  transcript.user(id, text, { isPending: true });
  transcript.isWaiting = true;
}

function grow() {
  input.style.height = "auto";
  input.style.height = `${Math.min(input.scrollHeight, 160)}px`;
}

/** Characters as the server counts them: an emoji is one. */
function lengthOf(text) {
  return Array.from(text).length;
}

/** Tells how long the message is once that matters; a text that is too long is kept whole and not sent. */
function measure() {
  const length = lengthOf(input.value.trim());
  const isTooLong = length > LONGEST;
  limit.hidden = length < NEARLY;
  limit.textContent = length < NEARLY ? "" : isTooLong ? texts.tooLong(length, LONGEST) : texts.length(length, LONGEST);
  limit.classList.toggle("trouble", isTooLong);
  input.setAttribute("aria-invalid", String(isTooLong));
  return isTooLong;
}

form.addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  const text = input.value.trim();
  if (!text) return;
  if (measure()) {
    input.focus();
    return;
  }
  say(text);
  input.value = "";
  grow();
  measure();
  input.focus();
});

input.addEventListener("input", () => {
  grow();
  measure();
});
input.addEventListener("keydown", (pressed) => {
  // An Enter that ends the composition of a character is not meant to send.
  if (pressed.key !== "Enter" || pressed.shiftKey || pressed.isComposing) return;
  pressed.preventDefault();
  form.requestSubmit();
});

function greet() {
  transcript.suggestions(config.suggestions, (phrase) => {
    say(phrase);
    input.focus({ preventScroll: true });
  });
}

greet();
chat.start();
if (matchMedia("(pointer: fine)").matches) input.focus();
