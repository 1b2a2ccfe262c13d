// A button with a menu. What may not be chosen stays there and says why.

import { ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import { Button, type ButtonLook } from './button.tsx'
import styles from './menu.module.css'

export type MenuChoice = {
  id: string
  text: string
  /** A second line: what it means, or why it may not be chosen. */
  note?: string | undefined
  disabled?: boolean
  danger?: boolean
  href?: string
}

type Props = {
  label: string
  children?: ReactNode
  look?: ButtonLook
  choices: readonly MenuChoice[]
  onChoose: (id: string) => void
  refusal?: string | null
}

export function Menu({ label, children, look = 'plain', choices, onChoose, refusal = null }: Props) {
  return (
    <MenuTrigger>
      <Button look={look} refusal={refusal}>
        {children ?? label}
        <ChevronDown aria-hidden="true" />
      </Button>
      <Popover className={styles.popover!} offset={4}>
        <AriaMenu
          aria-label={label}
          className={styles.menu!}
          onAction={(key) => onChoose(String(key))}
          disabledKeys={choices.filter(({ disabled }) => disabled).map(({ id }) => id)}
        >
          {choices.map(({ id, text, note, danger, href }) => (
            <MenuItem
              key={id}
              id={id}
              textValue={text}
              className={danger ? `${styles.item} ${styles.danger}` : styles.item!}
              {...(href === undefined ? {} : { href, download: true })}
            >
              <span>{text}</span>
              {note === undefined ? null : <span className={styles.note}>{note}</span>}
            </MenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  )
}
