// Cards of the transcript: the one question, the work in progress, and what became of every item.

import { button, el, icon } from "./dom.js";
import { readTable } from "./table.js";

const FOLD = 5;
const TICK_MS = 15_000;
const STATUS_ICON = {
  SUCCESS: "check",
  PARTIAL_SUCCESS: "half",
  FAILED: "cross",
  VERIFYING: "question",
  REFUSED: "cross",
  CANCELLED: "minus",
  ABANDONED: "minus",
  EXPIRED: "clock",
};
const ITEM_ICON = {
  SUCCEEDED: "check",
  FAILED: "cross",
  UNKNOWN: "question",
  INELIGIBLE: "cross",
  EXCLUDED: "minus",
  NOT_EXECUTED: "minus",
};
export const WITHOUT_EFFECT = new Set(["CANCELLED", "ABANDONED", "EXPIRED", "REFUSED"]);
const CLOSED_ICON = { confirm: "check", reject: "minus", replaced: "minus", expired: "clock", ended: "minus" };

/** A reason may be a code of the tool's; shown as words. */
function asWords(reason) {
  return /^[a-z0-9_]+$/i.test(reason) ? reason.replaceAll("_", " ") : reason;
}

/**
 * The question for one confirmation. `onAnswer(decision, itemKeys)`; itemKeys is null for the whole set.
 * `close(how)` ends it; a closed card cannot be answered.
 */
export class ConfirmationCard {
  #texts;
  #boxes = [];
  #timer = 0;
  #onAnswer;
  #kind;
  #note;
  #expiry;
  #confirm;
  #reject;
  #actions;
  #trouble = "";
  isOpen = true;

  constructor(frame, texts, onAnswer) {
    this.id = frame.data.confirmation_id;
    this.transactionId = frame.transaction_id;
    this.items = frame.data.items ?? [];
    this.#texts = texts;
    this.#onAnswer = onAnswer;
    this.element = this.#build(frame.data);
    this.#watch(frame.data.expires_at);
  }

  /** Asked again under the same id: the same question, now at the end of the transcript. */
  renew(frame) {
    this.#watch(frame.data.expires_at);
  }

  /** The answer could not be sent, or was refused: it may be tried again. `reason` stays until the user acts. */
  reopen(reason) {
    if (!this.isOpen) return;
    this.#disable(false);
    this.#trouble = reason;
    this.#refresh();
  }

  /** `reason`: why an answer of the user's came to nothing. */
  close(how, reason = "") {
    if (!this.isOpen) {
      if (reason) this.#tell(reason, true);
      return;
    }
    this.isOpen = false;
    clearInterval(this.#timer);
    const hadFocus = this.element.contains(document.activeElement);
    this.#actions.remove();
    this.#expiry.remove();
    for (const box of this.#boxes) box.disabled = true;
    this.#tell(reason, true);
    this.#kind.replaceChildren(icon(CLOSED_ICON[how]), this.#texts.closed[how]);
    this.element.dataset.closed = how;
    if (hadFocus) this.#kind.focus({ preventScroll: true });
  }

  #build(data) {
    const eligible = this.items.filter((item) => item.eligible !== false);
    const leftOut = this.items.filter((item) => item.eligible === false);
    const questionId = `question-${this.id}`;
    const { around, rows } = readTable(data.text, this.items);
    const reasonOf = (item) => rows[this.items.indexOf(item)]?.reason || asWords(item.reason ?? "");
    this.#kind = el("p", { class: "card-kind", tabindex: "-1" }, icon("question"), this.#texts.pending);
    this.#note = el("p", { class: "card-note", role: "status", tabindex: "-1" });
    this.#expiry = el("p", { class: "expiry" });
    this.#confirm = button("", () => this.#answer("confirm"), { class: "primary" });
    this.#reject = button(this.#texts.reject, () => this.#answer("reject"), { class: "secondary" });
    this.#actions = el("div", { class: "actions" }, this.#reject, this.#confirm);
    // No section: that would be a landmark, and two cards may have the same name.
    const card = el(
      "div",
      { class: "card confirmation", role: "group", "aria-labelledby": questionId },
      this.#kind,
      el("p", { class: "card-text", id: questionId }, around),
      eligible.length ? this.#choice(eligible) : null,
      leftOut.length ? this.#leftOut(leftOut, reasonOf) : null,
      this.#expiry,
      this.#actions,
      this.#note,
    );
    this.#refresh();
    return card;
  }

  #choice(items) {
    if (items.length === 1) return el("ul", { class: "items" }, el("li", {}, items[0].label));
    const rows = items.map((item) => {
      const box = el("input", { type: "checkbox", value: item.key });
      box.checked = true;
      box.addEventListener("change", () => {
        this.#trouble = "";
        this.#refresh();
      });
      this.#boxes.push(box);
      return el("li", {}, el("label", {}, box, el("span", {}, item.label)));
    });
    return el("div", {}, el("p", { class: "hint choose" }, this.#texts.choose), el("ul", { class: "items choice" }, ...rows));
  }

  #leftOut(items, reasonOf) {
    const rows = items.map((item) => {
      const reason = reasonOf(item);
      return el("li", {}, el("span", {}, item.label), reason ? el("span", { class: "reason" }, reason) : null);
    });
    const more = rows.length > FOLD ? unfolding(rows, this.#texts) : null;
    const list = el("ul", { class: "items" }, ...rows);
    return el("div", { class: "left-out" }, el("p", { class: "hint" }, this.#texts.leftOut), list, more);
  }

  #chosen() {
    return this.#boxes.filter((box) => box.checked).map((box) => box.value);
  }

  get #isSubset() {
    return this.#boxes.length > 0 && this.#chosen().length < this.#boxes.length;
  }

  #refresh() {
    const all = this.#boxes.length || this.items.filter((item) => item.eligible !== false).length;
    const count = this.#boxes.length ? this.#chosen().length : all;
    this.#confirm.textContent = this.#isSubset ? this.#texts.change(count) : this.#texts.confirm(count);
    this.#confirm.disabled = this.#boxes.length > 0 && count === 0;
    if (this.#trouble) this.#tell(this.#trouble, true);
    else if (this.#confirm.disabled) this.#tell(this.#texts.nothing);
    else this.#tell(this.#isSubset ? this.#texts.changed : "");
  }

  #tell(note, isTrouble = false) {
    this.#note.textContent = note;
    this.#note.classList.toggle("trouble", isTrouble);
  }

  #answer(decision) {
    const keys = decision === "confirm" && this.#isSubset ? this.#chosen() : null;
    this.#trouble = "";
    this.#tell(this.#texts.answering);
    this.#note.focus({ preventScroll: true });
    this.#disable(true);
    this.#onAnswer(decision, keys);
  }

  #disable(isDisabled) {
    for (const control of [this.#confirm, this.#reject, ...this.#boxes]) control.disabled = isDisabled;
  }

  #watch(expiresAt) {
    clearInterval(this.#timer);
    const tell = () => {
      const left = Date.parse(expiresAt) - Date.now();
      const minutes = Math.max(1, Math.round(left / 60_000));
      this.#expiry.replaceChildren(icon("clock"), left > 0 ? this.#texts.expiresIn(minutes) : this.#texts.overdue);
      this.#expiry.classList.toggle("soon", minutes <= 1);
    };
    tell();
    this.#timer = setInterval(tell, TICK_MS);
  }
}

/** The work in progress; it says how far, and is replaced by the result. */
export class ProgressCard {
  #bar = el("progress", {});
  #count = el("span", { class: "progress-count" });

  constructor(texts) {
    this.texts = texts;
    this.element = el(
      "section",
      { class: "card progress", "aria-busy": "true" },
      el("p", { class: "card-kind running" }, icon("clock"), texts.running, this.#count),
      this.#bar,
    );
    this.#bar.setAttribute("aria-label", texts.running);
  }

  update({ done, total }) {
    this.#bar.max = total || 1;
    this.#bar.value = done;
    this.#count.textContent = this.texts.progress(done, total);
  }
}

/** What became of a transaction: every item with its outcome, reason and protocol, or what a query found. */
export function resultCard(frame, texts, { consoleUrl = null, offer = null } = {}) {
  const { status, text = "", items = [], counts = {} } = frame.data;
  const { around, headings, rows } = readTable(text, items);
  const isFound = rows.some((row) => row?.found);
  const words = isFound ? [headings, around].filter(Boolean).join("\n") : around;
  const summary = items.length > 1 && !isFound && !WITHOUT_EFFECT.has(status) ? countsText(counts, texts) : "";
  return el(
    "div",
    { class: "card result", role: "group", "data-status": status, "aria-label": texts.status[status] ?? status },
    isFound ? null : heading(status, summary, texts),
    words ? el("p", { class: "card-text" }, words) : null,
    items.length ? itemList(items, rows, texts) : null,
    offer,
    consoleUrl ? el("a", { class: "console-link", href: consoleUrl }, texts.console) : null,
  );
}

function heading(status, summary, texts) {
  return el(
    "p",
    { class: "card-kind" },
    icon(STATUS_ICON[status] ?? "minus"),
    texts.status[status] ?? status,
    summary ? el("span", { class: "counts" }, summary) : null,
  );
}

function countsText(counts, texts) {
  const named = ["succeeded", "failed", "unknown", "excluded"].filter((name) => counts[name]);
  return named.map((name) => texts.counts[name](counts[name])).join(", ");
}

function itemList(items, told, texts) {
  // In a folded list what went wrong must not be what is hidden.
  const isFolded = items.length > FOLD;
  const rows = items.map((item, index) => itemRow(item, told[index], texts));
  if (isFolded) rows.sort((a, b) => (a.dataset.status === "SUCCEEDED") - (b.dataset.status === "SUCCEEDED"));
  const list = el("ul", { class: "items outcomes" }, ...rows);
  return isFolded ? el("div", {}, list, unfolding(rows, texts)) : list;
}

function unfolding(rows, texts) {
  const hidden = rows.slice(FOLD);
  for (const row of hidden) row.hidden = true;
  const more = button(
    texts.showAll(rows.length),
    () => {
      for (const row of hidden) row.hidden = false;
      more.remove();
      hidden[0].tabIndex = -1;
      hidden[0].focus();
    },
    { class: "more" },
  );
  return more;
}

function itemRow(item, told, texts) {
  if (told?.found) {
    const details = told.found.map((line) => el("span", { class: "reason" }, line));
    return el("li", { "data-status": item.status }, el("div", {}, el("span", { class: "item-label" }, item.label), ...details));
  }
  const reason = told ? told.reason : asWords(item.reason ?? "");
  return el(
    "li",
    { "data-status": item.status },
    icon(ITEM_ICON[item.status] ?? "clock"),
    el(
      "div",
      {},
      el("span", { class: "item-label" }, item.label),
      el("span", { class: "outcome" }, told?.outcome ?? texts.item[item.status] ?? item.status),
      reason ? el("span", { class: "reason" }, reason) : null,
      item.protocol ? protocolOf(item.protocol, texts) : null,
    ),
  );
}

function protocolOf(protocol, texts) {
  const copy = button(
    texts.copy,
    async () => {
      try {
        await navigator.clipboard.writeText(protocol);
      } catch {
        getSelection().selectAllChildren(code); // no permission: the user copies what is now selected
        return;
      }
      copy.textContent = texts.copied;
      setTimeout(() => (copy.textContent = texts.copy), 2000);
    },
    { class: "copy", "aria-label": `${texts.copy} ${protocol}` },
  );
  const code = el("code", {}, protocol);
  return el("span", { class: "protocol" }, `${texts.protocol} `, code, copy);
}
