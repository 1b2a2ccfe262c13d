// One thing to type, with its label above it and its fault beneath it.

import { useState } from 'react'
import { TextField as AriaTextField, FieldError, Input, Label, Text, TextArea } from 'react-aria-components'
import styles from './field.module.css'

type TextProps = {
  label: string
  value: string
  onChange: (value: string) => void
  onBlur?: () => void
  note?: string | undefined
  fault?: string | null
  placeholder?: string
  type?: 'text' | 'password' | 'search' | 'datetime-local'
  lines?: number
  autoFocus?: boolean
  mono?: boolean
  required?: boolean
  hiddenLabel?: boolean
  /** What the browser may fill in. */
  autoComplete?: string
  /** The ids offered below the field while typing. */
  list?: readonly string[]
}

export function TextField(props: TextProps) {
  const { label, value, onChange, note, fault = null, lines, mono = false, hiddenLabel = false, list } = props
  const { placeholder, autoComplete = 'off', required = false, autoFocus = false, type = 'text', onBlur } = props
  const inputClass = mono ? `${styles.input} ${styles.mono}` : styles.input!
  const listId = list === undefined ? undefined : `list-${label.replace(/\W+/g, '-')}`
  return (
    <AriaTextField
      value={value}
      onChange={onChange}
      {...(onBlur === undefined ? {} : { onBlur })}
      type={type}
      isInvalid={fault !== null}
      isRequired={required}
      autoFocus={autoFocus}
      autoComplete={autoComplete}
      validationBehavior="aria"
      className={styles.field!}
    >
      <Label className={hiddenLabel ? 'visually-hidden' : styles.label!}>{label}</Label>
      {lines === undefined ? (
        <Input
          className={inputClass}
          {...(placeholder === undefined ? {} : { placeholder })}
          {...(listId === undefined ? {} : { list: listId })}
        />
      ) : (
        <TextArea className={inputClass} rows={lines} {...(placeholder === undefined ? {} : { placeholder })} />
      )}
      {list === undefined ? null : (
        <datalist id={listId}>
          {list.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      {note === undefined ? null : (
        <Text slot="description" className={styles.note!}>
          {note}
        </Text>
      )}
      <FieldError className={styles.fault!}>{fault}</FieldError>
    </AriaTextField>
  )
}

/**
 * A text that the address keeps. The address follows a moment later: a field that showed it at each key would lose what is
 * typed meanwhile, and put the caret at its end. So it shows what is typed until the focus leaves it.
 */
export function AddressField({ value, onChange, ...rest }: Omit<TextProps, 'onBlur'>) {
  const [typed, setTyped] = useState<string | null>(null)
  return (
    <TextField
      {...rest}
      value={typed ?? value}
      onChange={(text) => {
        setTyped(text)
        onChange(text)
      }}
      onBlur={() => setTyped(null)}
    />
  )
}
