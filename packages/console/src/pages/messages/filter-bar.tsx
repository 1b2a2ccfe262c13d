// The filter as chips, and a field for `name:value`.

import { X } from 'lucide-react'
import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { lazyPart } from '../../components/lazy-part.tsx'
import { type FilterName, filterNames, type MessageFilter, type Search } from '../../domain/addresses.ts'
import { filterFromText, textOfFilter } from '../../domain/filter-text.ts'
import styles from './messages.module.css'

const FilterForm = lazyPart(() => import('./filter-form.tsx').then(({ FilterForm }) => FilterForm))

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
              setText(textOfFilter(name as FilterName, value))
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
