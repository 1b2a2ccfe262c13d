// Says in words what ••• stands for, wherever an answer has something hidden: nobody takes it for data.

import styles from './hidden-note.module.css'

type Answer = { readonly hidden?: readonly string[] | undefined }

/** Nothing where none of the answers has anything hidden. Whether they have is told by the API, never by the text. */
export function HiddenNote({ of }: { of: readonly (Answer | null | undefined)[] }) {
  if (!of.some((answer) => (answer?.hidden?.length ?? 0) > 0)) return null
  return <p className={styles.note}>Behind ••• is what a mask keeps from you; nothing of it is lost.</p>
}
