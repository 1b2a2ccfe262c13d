// One of several, chosen from a list or seen at once.

import { Check, ChevronDown } from 'lucide-react'
import {
  Button as AriaButton,
  Select as AriaSelect,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Radio,
  RadioGroup,
  SelectValue,
} from 'react-aria-components'
import styles from './field.module.css'

type Choice<T extends string> = { id: T; text: string; note?: string | undefined }

type SelectProps<T extends string> = {
  label: string
  value: T
  choices: readonly Choice<T>[]
  onChange: (value: T) => void
  hiddenLabel?: boolean
}

export function Select<T extends string>({ label, value, choices, onChange, hiddenLabel = false }: SelectProps<T>) {
  return (
    <AriaSelect value={value} onChange={(key) => onChange(key as T)} className={styles.field!}>
      <Label className={hiddenLabel ? 'visually-hidden' : styles.label!}>{label}</Label>
      <AriaButton className={styles.select!}>
        <SelectValue>{({ selectedText }) => selectedText}</SelectValue>
        <ChevronDown aria-hidden="true" />
      </AriaButton>
      <Popover className={styles.popover!}>
        <ListBox className={styles.list!}>
          {choices.map(({ id, text, note }) => (
            <ListBoxItem key={id} id={id} textValue={text} className={styles.option!}>
              {({ isSelected }) => (
                <>
                  <span className={styles.tick}>{isSelected ? <Check aria-hidden="true" /> : null}</span>
                  <span>
                    {text}
                    {note === undefined ? null : <small className={styles.note}>{note}</small>}
                  </span>
                </>
              )}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaSelect>
  )
}

type ChoiceProps<T extends string> = SelectProps<T>

/** A few choices that are all seen. */
export function Choices<T extends string>({ label, value, choices, onChange, hiddenLabel = false }: ChoiceProps<T>) {
  return (
    <RadioGroup value={value} onChange={(key) => onChange(key as T)} className={styles.field!}>
      <Label className={hiddenLabel ? 'visually-hidden' : styles.label!}>{label}</Label>
      <div className={styles.choices}>
        {choices.map(({ id, text, note }) => (
          <Radio key={id} value={id} className={styles.choice!}>
            <span className={styles.dot} />
            <span>
              {text}
              {note === undefined ? null : <small className={styles.note}>{note}</small>}
            </span>
          </Radio>
        ))}
      </div>
    </RadioGroup>
  )
}
