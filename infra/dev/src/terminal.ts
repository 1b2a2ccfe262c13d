// Shows lines in place on a terminal, and as plain lines anywhere else.

export type Terminal = {
  /** Replaces the lines of the last show(). Without a terminal it prints only `plain`, if that is new. */
  show(lines: readonly string[], plain: string): void
  /** A line that stays. */
  print(line: string): void
}

const plainIntervalMs = 2000
/** For terminals that do not tell their size. */
const defaultRows = 24
const defaultColumns = 80

export function createTerminal(out: NodeJS.WriteStream): Terminal {
  let shown = 0
  let lastPlain = { text: '', at: 0 }
  const clear = () => {
    if (shown > 0) out.write(`\u001b[${shown}A\u001b[0J`)
    shown = 0
  }
  return {
    show(lines, plain) {
      if (!out.isTTY) {
        if (plain === lastPlain.text || Date.now() - lastPlain.at < plainIntervalMs) return
        lastPlain = { text: plain, at: Date.now() }
        out.write(`${plain}\n`)
        return
      }
      clear()
      // Longer lines would wrap, and lines beyond the terminal's height could not be replaced.
      const fitting = lines
        .slice(0, (out.rows || defaultRows) - 1)
        .map((line) => line.slice(0, out.columns || defaultColumns))
      out.write(`${fitting.join('\n')}\n`)
      shown = fitting.length
    },
    print(line) {
      clear()
      out.write(`${line}\n`)
    },
  }
}
