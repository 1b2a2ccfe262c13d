// A field that offers names while somebody types, and takes any other.

import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import {
  Button as AriaButton,
  ComboBox as AriaComboBox,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
} from 'react-aria-components'
import own from './combo-box.module.css'
import styles from './field.module.css'

type Props = {
  label: string
  value: string
  names: readonly string[]
  onChange: (name: string) => void
  placeholder?: string
}

/** At most this many are offered at once: the rest is found by typing. */
const maxOffered = 200

export function ComboBox({ label, value, names, onChange, placeholder }: Props) {
  const [text, setText] = useState(value)
  // Whoever comes back to it sees all, and not only what is like the one that is chosen.
  const sought = text === value ? '' : text.trim()
  const fitting = names.filter((name) => name.toLowerCase().includes(sought.toLowerCase()))
  return (
    <AriaComboBox
      allowsCustomValue
      menuTrigger="focus"
      inputValue={text}
      onInputChange={setText}
      onSelectionChange={(key) => {
        if (key !== null) onChange(String(key))
      }}
      onKeyDown={(event) => {
        const isChoosing = (event.target as Element).hasAttribute('aria-activedescendant')
        if (event.key === 'Enter' && !isChoosing && !event.nativeEvent.isComposing) onChange(text.trim())
      }}
      className={styles.field!}
    >
      <Label className={styles.label!}>{label}</Label>
      <div className={own.box}>
        <Input className={styles.input!} {...(placeholder === undefined ? {} : { placeholder })} />
        <AriaButton className={own.button!} aria-label={`Show ${label.toLowerCase()}`}>
          <ChevronDown aria-hidden="true" />
        </AriaButton>
      </div>
      <Popover className={styles.popover!}>
        <ListBox className={styles.list!}>
          {fitting.slice(0, maxOffered).map((name) => (
            <ListBoxItem key={name} id={name} textValue={name} className={styles.option!}>
              {name}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaComboBox>
  )
}
