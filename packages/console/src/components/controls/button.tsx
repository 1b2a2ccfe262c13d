// Buttons, and links that look like them. A button that may not be pressed says why in its description.

import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps, Tooltip, TooltipTrigger } from 'react-aria-components'
import { ariaKeys, keyText } from '../keys.ts'
import styles from './button.module.css'

export type ButtonLook = 'plain' | 'primary' | 'danger' | 'quiet'

export function buttonClass(look: ButtonLook = 'plain'): string {
  return `${styles.button} ${styles[look]}`
}

/** While its answer is awaited a button is `isPending`, and keeps the focus; one that is disabled would lose it. */
type Props = Omit<ButtonProps, 'className' | 'children'> & {
  look?: ButtonLook
  children: ReactNode
  /** Why it may not be pressed; null where it may. */
  refusal?: string | null
  /** The key that does the same, as useKeys has it. */
  hint?: string
  /** What it does, where the children are only a picture. */
  label?: string
}

export function Button({ look = 'plain', children, refusal = null, hint, label, onPress, ...rest }: Props) {
  const button = (
    <AriaButton
      {...rest}
      {...(label === undefined ? {} : { 'aria-label': label })}
      {...(hint === undefined ? {} : { 'aria-keyshortcuts': ariaKeys(hint) })}
      {...(refusal === null ? {} : { 'aria-disabled': true, 'data-refused': true })}
      {...(onPress === undefined || refusal !== null ? {} : { onPress })}
      className={buttonClass(look)}
    >
      {children}
      {hint === undefined ? null : (
        <span className={styles.key} aria-hidden="true">
          {keyText(hint)}
        </span>
      )}
    </AriaButton>
  )
  const tip = refusal ?? (label === undefined ? null : label)
  if (tip === null) return button
  return (
    <TooltipTrigger delay={refusal === null ? 600 : 0}>
      {button}
      <Tooltip offset={6} className={styles.tip!}>
        {tip}
      </Tooltip>
    </TooltipTrigger>
  )
}
