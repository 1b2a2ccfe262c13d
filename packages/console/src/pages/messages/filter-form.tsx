// Every field of the filter, for those who do not type `name:value`.

import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { Dialog, DialogActions } from '../../components/controls/dialog.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { filterNames, type MessageFilter, type Search } from '../../domain/addresses.ts'
import styles from './filter-form.module.css'

const notes: Partial<Record<keyof MessageFilter, string>> = {
  status: 'PENDING, RETRYING, RESOLVED, DEAD; more than one with commas',
  topic: 'a topic, or a glob with * and ?',
  key: 'exactly; base64: before bytes',
  from: 'stored here at or after; also -24h',
  to: 'stored here before',
  arrived_from: 'written to its DLQ topic at or after',
  arrived_to: 'written to its DLQ topic before',
  q: 'text within the error’s message or class',
  payload: 'JSON that the value contains, such as {"order_id":"4711"}',
  archived: 'true: the archive instead',
}

type Props = { filter: MessageFilter; onChange: (filter: Search) => void; onClose: () => void }

export function FilterForm({ filter, onChange, onClose }: Props) {
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
