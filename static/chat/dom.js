// Building elements from text only: nothing that a user, a tool or a model says becomes markup.

/** An element with attributes and children; texts become text nodes. `null` attributes are left out. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

export function button(text, onClick, attributes = {}) {
  const element = el("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", onClick);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
const PATHS = {
  check: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18m-4 9 3 3 5-6",
  cross: "M8 3h8l5 5v8l-5 5H8l-5-5V8zm1 6 6 6m0-6-6 6",
  question: "M12 3 2 20h20zm-2 7a2 2 0 1 1 2.6 1.9c-.4.2-.6.5-.6 1v.6m0 2.5v.1",
  half: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18m0 0v18",
  minus: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18m-4 9h8",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18m0 4v5l3 2",
};

/** A decorative icon; the words beside it say the same. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
