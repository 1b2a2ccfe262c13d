// Tables for people: as wide as the terminal, without lines around cells, so they can be copied. Columns of a high rank
// are left out first, or stand below their row; then the widest column is cut, but no id. In a pipe, and with --wide,
// nothing is left out or cut.
import stringWidth from 'string-width'
import { plain } from './words.ts'

export type Column<Row> = {
  title: string
  value: (row: Row) => unknown
  /** 0 is never left out; the highest goes first. */
  rank?: number
  right?: boolean
  /** Never cut, as an id: half of it finds nothing. */
  whole?: boolean
  /** In how many columns of a terminal the text says enough: others are left out until it has them. Half of it, unless given. */
  enough?: number
  /** In the place of being left out, it stands on a line below its row. */
  below?: boolean
}

const gap = '  '
const minWidth = 12

/** Lines without a final line break. `columns` null: as wide as it gets. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width: number | null): string {
  const all = columns.map((column) => {
    const cells = rows.map((row) => plain(column.value(row)))
    return { ...column, cells, width: Math.max(...[column.title, ...cells].map((cell) => stringWidth(cell))) }
  })
  const fitting = width === null ? all : fit(all, width)
  const below = all.filter(({ title, below }) => below && !fitting.some((column) => column.title === title))
  // What stands below leaves room for others.
  const shown =
    width === null || below.length === 0
      ? fitting
      : fit(
          all.filter((one) => !below.includes(one)),
          width,
        )
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => pad(cut(text, shown[i]!.width), shown[i]!.width, shown[i]!.right === true))
      .join(gap)
      .trimEnd()
  const lines = (textOf: (column: (typeof all)[number]) => string) => [
    line(shown.map(textOf)),
    ...(below.length === 0 ? [] : [cut(gap + below.map(textOf).join(gap), width!)]),
  ]
  return [...lines(({ title }) => title), ...rows.flatMap((_, n) => lines(({ cells }) => cells[n]!))].join('\n')
}

type Measured = { rank?: number; width: number; whole?: boolean; enough?: number }

function fit<T extends Measured>(columns: readonly T[], width: number): T[] {
  const shown = columns.map((column) => ({ ...column }))
  const excess = () => shown.reduce((sum, column) => sum + column.width + gap.length, -gap.length) - width
  for (;;) {
    // A column that would say enough after a cut is worth cutting; before that, the least important one goes.
    const cuttable = shown.filter(({ whole }) => !whole)
    const widest = cuttable.reduce((a, b) => (b.width > a.width ? b : a), cuttable[0] ?? shown[0]!)
    const least = shown.reduce((a, b) => ((b.rank ?? 0) > (a.rank ?? 0) ? b : a))
    if (excess() <= 0) return shown
    const { enough = widest.width / 2 } = widest
    if (widest.width - excess() >= Math.max(minWidth, enough) || (least.rank ?? 0) === 0) {
      if (!widest.whole) widest.width = Math.max(minWidth, widest.width - excess())
      return shown
    }
    shown.splice(shown.indexOf(least), 1)
  }
}

function pad(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - stringWidth(text)))
  return right ? space + text : text + space
}

const graphemes = new Intl.Segmenter()

/** `text` in `width` columns of a terminal, with … where it was cut. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  let kept = ''
  let used = 1
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment)
    if (used > width) break
    kept += segment
  }
  return `${kept}…`
}
