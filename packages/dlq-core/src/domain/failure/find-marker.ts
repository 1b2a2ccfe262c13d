// Looks for a marker of a stack trace, such as "\nCaused by: ".

/** V8 looks for so few characters by their first one; for more it builds tables, which costs more than a trace is long. */
const soughtChars = 6

/** As `text.indexOf(marker, from)`; in texts of a few KB, which seldom have the marker, several times as fast. */
export function findMarker(text: string, marker: string, from = 0): number {
  const sought = marker.slice(0, soughtChars)
  let at = text.indexOf(sought, from)
  while (at !== -1 && !text.startsWith(marker, at)) at = text.indexOf(sought, at + 1)
  return at
}
