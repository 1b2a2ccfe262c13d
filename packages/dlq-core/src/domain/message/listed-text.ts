// How much of a long text lists hold. Whoever writes a DLQ topic chooses error messages of 64 KiB, and a page has a thousand.

/** Characters of an error message in previews, attempts and the messages of a run. The message's own page has all of it. */
export const listedChars = 4000

/** Bytes of a record key in lists; a filter's key has no more characters. */
export const listedKeyBytes = 2048

/** Whether a list may have cut the text. */
export function isCutForList(text: string): boolean {
  // PostgreSQL counts code points.
  return text.length >= listedChars && text.length <= 2 * listedChars && [...text].length === listedChars
}
