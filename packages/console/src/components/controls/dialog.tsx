// A dialog over the page. It is closed by Escape, and the focus goes back to where it came from.

import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import styles from './dialog.module.css'

type Props = {
  title: string
  children: ReactNode
  onClose: () => void
  /** Beside the page instead of over its middle. */
  side?: boolean
  /** It cannot be left without an answer. */
  must?: boolean
}

export function Dialog({ title, children, onClose, side = false, must = false }: Props) {
  return (
    <ModalOverlay
      isOpen
      isDismissable={!must}
      isKeyboardDismissDisabled={must}
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      className={styles.overlay!}
    >
      <Modal className={side ? styles.side! : styles.modal!}>
        <AriaDialog className={styles.dialog!}>
          <Heading slot="title" className={styles.title!}>
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>
}
