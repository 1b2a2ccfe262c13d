// Key and headers as cells that can be changed: text, bytes in base64, or none. Headers keep their order, and names repeat.

import { ArrowDown, ArrowUp, X } from 'lucide-react'
import { Button } from '../../components/controls/button.tsx'
import { Select } from '../../components/controls/select.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import type { Cell, HeaderCell } from '../../domain/payload/edit-draft.ts'
import styles from './edit.module.css'

const kinds = [
  { id: 'text' as const, text: 'text' },
  { id: 'base64' as const, text: 'base64' },
  { id: 'null' as const, text: 'none' },
]

type CellProps = { name: string; cell: Cell; onChange: (cell: Cell) => void }

function CellField({ name, cell, onChange }: CellProps) {
  return (
    <>
      {cell.as === 'null' ? (
        <span className={styles.quiet}>none</span>
      ) : (
        <TextField
          label={name}
          hiddenLabel
          mono
          value={cell.text}
          onChange={(text) => onChange({ as: cell.as, text })}
        />
      )}
      <Select
        label={`${name} is written as`}
        hiddenLabel
        value={cell.as}
        choices={kinds}
        onChange={(as) => onChange({ as, text: cell.text })}
      />
    </>
  )
}

export function KeyCell({ cell, onChange }: Omit<CellProps, 'name'>) {
  return (
    <div className={styles.key}>
      <CellField name="Key" cell={cell} onChange={onChange} />
    </div>
  )
}

type HeadersProps = { headers: readonly HeaderCell[]; onChange: (headers: readonly HeaderCell[]) => void }

export function HeaderCells({ headers, onChange }: HeadersProps) {
  const replace = (at: number, change: Partial<HeaderCell>) =>
    onChange(headers.map((header, index) => (index === at ? { ...header, ...change } : header)))
  const swap = (at: number, by: number) => {
    const moved = headers.toSpliced(at, 1)
    onChange(moved.toSpliced(at + by, 0, headers[at]!))
  }
  const add = () =>
    onChange([...headers, { id: Math.max(-1, ...headers.map(({ id }) => id)) + 1, name: '', as: 'text', text: '' }])
  return (
    <>
      {headers.length === 0 ? <p className={styles.quiet}>No headers.</p> : null}
      <ol className={styles.headers} aria-label="Headers">
        {headers.map((header, at) => {
          const name = header.name === '' ? `header ${at + 1}` : header.name
          return (
            <li key={header.id}>
              <TextField
                label={`Name of header ${at + 1}`}
                hiddenLabel
                mono
                value={header.name}
                onChange={(changed) => replace(at, { name: changed })}
              />
              <CellField name={`Value of ${name}`} cell={header} onChange={(cell) => replace(at, cell)} />
              <span className={styles.moves}>
                <Button look="quiet" label={`Move ${name} up`} isDisabled={at === 0} onPress={() => swap(at, -1)}>
                  <ArrowUp aria-hidden="true" />
                </Button>
                <Button
                  look="quiet"
                  label={`Move ${name} down`}
                  isDisabled={at === headers.length - 1}
                  onPress={() => swap(at, 1)}
                >
                  <ArrowDown aria-hidden="true" />
                </Button>
                <Button look="quiet" label={`Remove ${name}`} onPress={() => onChange(headers.toSpliced(at, 1))}>
                  <X aria-hidden="true" />
                </Button>
              </span>
            </li>
          )
        })}
      </ol>
      <div>
        <Button onPress={add}>Add a header</Button>
      </div>
    </>
  )
}
