// The item table of a server text: the card shows the same rows as a list, in the server's own words.
//
//   • Label: outcome (reason; protocol)     what became of an item
//   • Label – details                       what a query found, also as indented lines below the label

const BULLET = "• ";
const INDENT = "   ";

/**
 * `around`: the text without the rows and without the lines that only announce them, which are `headings`.
 * `rows`: for each item null, or {outcome, reason} or {found: [lines]}.
 */
export function readTable(text, items) {
  const lines = text.split("\n");
  const taken = new Set();
  const rows = items.map((item) => takeRow(item, lines, taken));
  const isHeading = (line, index) => !taken.has(index) && line.endsWith(":") && taken.has(index + 1);
  const around = lines.filter((line, index) => !taken.has(index) && !isHeading(line, index));
  return { around: around.join("\n").trim(), headings: lines.filter(isHeading).join("\n"), rows };
}

function takeRow(item, lines, taken) {
  const start = BULLET + item.label;
  const at = lines.findIndex((line, index) => !taken.has(index) && line.startsWith(start) && isRow(line.slice(start.length)));
  if (at < 0) return null;
  taken.add(at);
  const found = [];
  for (let next = at + 1; lines[next]?.startsWith(INDENT); next += 1) {
    taken.add(next);
    found.push(lines[next].trim());
  }
  const rest = lines[at].slice(start.length);
  if (rest.startsWith(": ")) return outcomeOf(rest.slice(2), item.protocol);
  return { found: rest ? [rest.slice(" – ".length), ...found] : found };
}

function isRow(rest) {
  return rest === "" || rest.startsWith(": ") || rest.startsWith(" – ");
}

function outcomeOf(words, protocol) {
  const split = /^(.*?) \((.*)\)$/.exec(words);
  if (!split) return { outcome: words, reason: "" };
  const details = split[2].split("; ").filter((detail) => !protocol || !detail.endsWith(protocol));
  return { outcome: split[1], reason: details.join("; ") };
}
