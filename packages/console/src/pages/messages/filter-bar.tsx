// The filter as chips, and a form with every field for those who do not type `name:value`.

import { X } from 'lucide-react'
import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { Dialog, DialogActions } from '../../components/controls/dialog.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { filterNames, type MessageFilter, type Search } from '../../domain/addresses.ts'
import { filterFromText } from '../../domain/filter-text.ts'
import styles from './messages.module.css'

type Props = { filter: MessageFilter; onChange: (filter: Search) => void }

export function FilterBar({ filter, onChange }: Props) {
  const [text, setText] = useState('')
  const [form, setForm] = useState(false)
  const chips = Object.entries(filter)
  return (
    <div className={styles.bar}>
      {chips.map(([name, value]) => (
        <span key={name} className={styles.chip}>
          <Button
            look="quiet"
            onPress={() => {
              setText(`${name}:${value}`)
              document.querySelector<HTMLInputElement>('[data-filter] input')?.focus()
            }}
          >
            <span className={styles.name}>{name}</span>
            <span className={styles.chipValue}>{value}</span>
          </Button>
          <Button look="quiet" label={`Without ${name}`} onPress={() => onChange({ ...filter, [name]: undefined })}>
            <X aria-hidden="true" />
          </Button>
        </span>
      ))}
      <Form
        className={styles.type!}
        data-filter
        onSubmit={(event) => {
          event.preventDefault()
          const added = filterFromText(text)
          setText('')
          if (added !== null) onChange({ ...filter, ...added })
        }}
      >
        <TextField
          label="Filter"
          hiddenLabel
          value={text}
          onChange={setText}
          placeholder="status:DEAD topic:orders key:4711 from:-24h, or text of the error"
          list={filterNames.map((name) => `${name}:`)}
        />
      </Form>
      <Button onPress={() => setForm(true)}>Filters</Button>
      {form ? <FilterForm filter={filter} onChange={onChange} onClose={() => setForm(false)} /> : null}
    </div>
  )
}

const notes: Partial<Record<keyof MessageFilter, string>> = {
  status: 'PENDING, RETRYING, RESOLVED, DEAD; more than one with commas',
  topic: 'a topic, or a glob with * and ?',
  key: 'exactly; base64: before bytes',
  from: 'created at or after; also -24h',
  to: 'created before',
  q: 'text within the error’s message or class',
  payload: 'JSON that the value contains, such as {"order_id":"4711"}',
  archived: 'true: the archive instead',
}

function FilterForm({ filter, onChange, onClose }: Props & { onClose: () => void }) {
  const [values, setValues] = useState<MessageFilter>(filter)
  return (
    <Dialog title="Filters" onClose={onClose} side>
      <Form
        className={styles.form!}
        onSubmit={(event) => {
          event.preventDefault()
          onChange(values)
          onClose()
        }}
      >
        {filterNames.map((name) => (
          <TextField
            key={name}
            label={name}
            value={values[name] ?? ''}
            onChange={(value) => setValues({ ...values, [name]: value })}
            note={notes[name]}
          />
        ))}
        <DialogActions>
          <Button onPress={() => setValues({})}>Empty all</Button>
          <Button type="submit" look="primary">
            Show
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
