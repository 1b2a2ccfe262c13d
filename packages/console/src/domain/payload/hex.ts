// Bytes as rows of 16: offset, hexadecimal, ASCII.

export type HexRow = { readonly offset: string; readonly hex: string; readonly ascii: string }

export function hexRows(bytes: Uint8Array, from: number, count: number): HexRow[] {
  const rows: HexRow[] = []
  const end = Math.min(bytes.length, from + count * 16)
  for (let at = from; at < end; at += 16) {
    const row = bytes.subarray(at, Math.min(at + 16, end))
    rows.push({
      offset: at.toString(16).padStart(8, '0'),
      hex: Array.from(row, (byte) => byte.toString(16).padStart(2, '0')).join(' '),
      ascii: Array.from(row, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join(''),
    })
  }
  return rows
}

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
