// A button with a menu. What may not be chosen stays there and says why.

import { ChevronDown } from 'lucide-react'
import { type ReactNode, useContext } from 'react'
import { Menu as AriaMenu, MenuItem, MenuTrigger, Popover, RootMenuTriggerStateContext } from 'react-aria-components'
import { useKeys } from '../keys.ts'
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
  /** Opens it, with the first choice ready for Enter. */
  shortcut?: string | undefined
}

export function Menu({ label, children, look = 'plain', choices, onChoose, refusal = null, shortcut }: Props) {
  return (
    <MenuTrigger>
      {shortcut === undefined || refusal !== null ? null : <OpenByKey shortcut={shortcut} />}
      <Button look={look} refusal={refusal} {...(shortcut === undefined ? {} : { hint: shortcut })}>
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

function OpenByKey({ shortcut }: { shortcut: string }) {
  const state = useContext(RootMenuTriggerStateContext)
  useKeys({ [shortcut]: () => state?.open('first') })
  return null
}
