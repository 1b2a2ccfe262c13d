// A table whose rows become two or more lines on a phone, where each cell says what it is.

import type { ReactNode } from 'react'
import styles from './table.module.css'

export type Column = { text: string; number?: boolean; hidden?: boolean }

type Props = { label: string; columns: readonly Column[]; children: ReactNode; dim?: boolean }

export function Table({ label, columns, children, dim = false }: Props) {
  return (
    <table className={styles.table} aria-label={label} data-dim={dim}>
      <thead>
        <tr>
          {columns.map(({ text, number = false, hidden = false }) => (
            <th key={text} scope="col" data-number={number}>
              {hidden ? <span className="visually-hidden">{text}</span> : text}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

type CellProps = {
  /** The column's name, for the phone; without one the cell has a line of its own. */
  label?: string
  number?: boolean
  children: ReactNode
  /** It is taken to the end of the row, on a phone as well. */
  end?: boolean
}

export function Cell({ label, number = false, children, end = false }: CellProps) {
  return (
    <td data-label={label} data-number={number} data-end={end}>
      {children}
    </td>
  )
}

/** Quiet text under what the cell says. */
export function Under({ children }: { children: ReactNode }) {
  return <div className={styles.under}>{children}</div>
}
