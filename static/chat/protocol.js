// The chat protocol: one session, one socket at a time, every event once, and nothing unacknowledged is lost.

const PING_MS = 20_000;
const SILENCE_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
const TRIES = 5;
const RETRY_MS = 1_500;
const WORTH_A_RETRY = new Set(["rate_limited", "busy", "unavailable"]);
const CLOSE = { NOT_AUTHENTICATED: 4401, FOREIGN_ORIGIN: 4403, TOO_FAST: 4429 };

function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Emits: `event` (a frame of the conversation, in order), `ready`, `ack`, `failed` ({id, code}: it will not be sent
 * again), `state` ("connecting" | "online" | "offline" | "refused" | "expired"), `reset` (a new conversation begins).
 */
export class Chat extends EventTarget {
  #options;
  #session = null;
  #socket = null;
  #pending = new Map();
  #pause = FIRST_PAUSE_MS;
  #timers = { ping: 0, silence: 0, connect: 0 };
  #isReady = false;
  #isOver = false;
  lastSeq = 0;

  constructor(options) {
    super();
    this.#options = options;
    addEventListener("online", () => this.#connectNow());
  }

  start() {
    this.#session = this.#storedSession();
    this.#connect();
  }

  get conversationId() {
    return this.#session?.conversation_id ?? null;
  }

  /** Send a text; it says what the user had on screen when they wrote it. Returns the client message id. */
  send(text) {
    return this.#post({ type: "message.send", text, seen_seq: this.lastSeq });
  }

  answer(confirmationId, decision, itemKeys = null) {
    const frame = { type: "confirmation.answer", confirmation_id: confirmationId, decision };
    if (itemKeys) frame.item_keys = itemKeys;
    return this.#post(frame);
  }

  /** Ask for what failed of a transaction to be tried again. */
  retry(transactionId) {
    return this.#post({ type: "transaction.retry", transaction_id: transactionId });
  }

  // Sending ----------------------------------------------------------------------------------------------------

  #post(frame) {
    const id = newId();
    this.#pending.set(id, { frame: { ...frame, client_message_id: id }, tries: 0 });
    this.#transmit(id);
    return id;
  }

  #transmit(id) {
    const held = this.#pending.get(id);
    if (!held || !this.#isReady) return;
    held.tries += 1;
    this.#socket.send(JSON.stringify(held.frame));
  }

  #onError(frame) {
    const held = this.#pending.get(frame.client_message_id);
    if (!held) return;
    // What is busy with another request stays so until the user has finished that one.
    const isWorthIt = WORTH_A_RETRY.has(frame.code) && !(frame.code === "busy" && held.frame.type === "transaction.retry");
    if (isWorthIt && held.tries < TRIES) {
      setTimeout(() => this.#transmit(frame.client_message_id), RETRY_MS * held.tries);
      return;
    }
    this.#pending.delete(frame.client_message_id);
    this.#emit("failed", { id: frame.client_message_id, code: frame.code });
  }

  // Receiving --------------------------------------------------------------------------------------------------

  #onFrame(frame) {
    clearTimeout(this.#timers.silence);
    switch (frame.type) {
      case "event":
        if (frame.seq <= this.lastSeq) return;
        this.lastSeq = frame.seq;
        this.#emit("event", frame);
        break;
      case "ready":
        this.#isReady = true;
        this.#pause = FIRST_PAUSE_MS;
        this.#emit("ready", frame);
        this.#state("online");
        for (const id of this.#pending.keys()) this.#transmit(id);
        break;
      case "ack":
        this.#pending.delete(frame.client_message_id);
        this.#emit("ack", frame);
        break;
      case "error":
        this.#onError(frame);
        break;
    }
  }

  // The connection ---------------------------------------------------------------------------------------------

  async #connect() {
    this.#state("connecting");
    try {
      this.#session ??= await this.#newSession();
    } catch (problem) {
      if (problem.isFinal) this.#end("expired");
      else this.#later();
      return;
    }
    if (!this.#session) return;
    const url = new URL(this.#session.ws_path, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: "hello", session_token: this.#session.session_token, after_seq: this.lastSeq }));
      this.#timers.ping = setInterval(() => this.#ping(), PING_MS);
    };
    socket.onmessage = (message) => this.#onFrame(JSON.parse(message.data));
    socket.onclose = (closed) => this.#onClose(socket, closed.code);
  }

  #ping() {
    if (!this.#isReady) return;
    this.#socket.send(JSON.stringify({ type: "ping", last_seq: this.lastSeq }));
    clearTimeout(this.#timers.silence);
    this.#timers.silence = setTimeout(() => this.#drop(), SILENCE_MS);
  }

  /** Give up a socket that says nothing: its close may never be told. */
  #drop() {
    const socket = this.#socket;
    socket.close();
    this.#onClose(socket, 1006);
  }

  #onClose(socket, code) {
    if (socket !== this.#socket || this.#isOver) return;
    this.#socket = null;
    this.#isReady = false;
    clearInterval(this.#timers.ping);
    clearTimeout(this.#timers.silence);
    if (code === CLOSE.FOREIGN_ORIGIN) return this.#end("refused");
    if (code === CLOSE.NOT_AUTHENTICATED) this.#forgetSession();
    if (code === CLOSE.TOO_FAST) this.#pause = LONGEST_PAUSE_MS;
    this.#state("offline");
    this.#later();
  }

  #later() {
    this.#state("offline");
    const pause = this.#pause * (0.75 + Math.random() / 2);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
    clearTimeout(this.#timers.connect);
    this.#timers.connect = setTimeout(() => this.#connect(), pause);
  }

  #connectNow() {
    if (this.#socket || this.#isOver) return;
    clearTimeout(this.#timers.connect);
    this.#pause = FIRST_PAUSE_MS;
    this.#connect();
  }

  #end(state) {
    this.#isOver = true;
    this.#state(state);
  }

  // The session ------------------------------------------------------------------------------------------------

  async #newSession() {
    const { sessionsPath, channel, locale, userToken, storageKey } = this.#options;
    const answer = await fetch(sessionsPath, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ channel, locale, user_token: userToken }),
    });
    if (!answer.ok) {
      // A token that is no longer good, or a channel that is gone, will not get better by asking again.
      throw Object.assign(new Error(`session: ${answer.status}`), { isFinal: [400, 401, 404].includes(answer.status) });
    }
    const session = await answer.json();
    sessionStorage.setItem(storageKey, JSON.stringify(session));
    return session;
  }

  #storedSession() {
    try {
      const session = JSON.parse(sessionStorage.getItem(this.#options.storageKey));
      return session && Date.parse(session.expires_at) > Date.now() ? session : null;
    } catch {
      return null;
    }
  }

  #forgetSession() {
    sessionStorage.removeItem(this.#options.storageKey);
    this.#session = null;
    this.lastSeq = 0;
    this.#emit("reset");
  }

  #state(state) {
    this.#emit("state", state);
  }

  #emit(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
