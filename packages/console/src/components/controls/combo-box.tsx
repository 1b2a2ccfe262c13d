// A field that offers names while somebody types, and takes any other.

import { ChevronDown } from 'lucide-react'
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
  return (
    <AriaComboBox
      allowsCustomValue
      menuTrigger="focus"
      defaultInputValue={value}
      onSelectionChange={(key) => {
        if (key !== null) onChange(String(key))
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
          {names.slice(0, maxOffered).map((name) => (
            <ListBoxItem key={name} id={name} textValue={name} className={styles.option!}>
              {name}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaComboBox>
  )
}
