// A box to tick.

import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { Checkbox as AriaCheckbox } from 'react-aria-components'
import styles from './field.module.css'

type CheckboxProps = {
  checked: boolean
  onChange: (checked: boolean) => void
  children?: ReactNode
  /** Where there are no children. */
  label?: string
  partly?: boolean
}

export function Checkbox({ checked, onChange, children, label, partly = false }: CheckboxProps) {
  return (
    <AriaCheckbox
      isSelected={checked}
      isIndeterminate={partly}
      onChange={onChange}
      className={styles.checkbox!}
      {...(label === undefined ? {} : { 'aria-label': label })}
    >
      <span className={styles.box}>
        {checked && !partly ? <Check aria-hidden="true" /> : null}
        {partly ? <span className={styles.dash} /> : null}
      </span>
      {children}
    </AriaCheckbox>
  )
}
