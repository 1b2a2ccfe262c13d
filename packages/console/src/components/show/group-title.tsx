// An error group in one line: its class short, and its place in the code.

import { shortClass } from '../../domain/words.ts'
import { DirectedText } from './directed-text.tsx'
import styles from './group-title.module.css'

type Props = { title: string; errorClass: string | null; location: string | null; message: string }

export function GroupTitle({ title, errorClass, location, message }: Props) {
  if (errorClass === null)
    return (
      <bdi className={styles.name}>
        <DirectedText text={title} />
      </bdi>
    )
  const place = location === null ? null : location.replace(/ \(.*\)$/, '')
  return (
    <>
      <bdi className={styles.name}>
        <DirectedText text={shortClass(errorClass)} />
      </bdi>
      <span className={styles.quiet}>
        {place === null ? ' ' : ' in '}
        <bdi>
          <DirectedText text={place ?? message} />
        </bdi>
      </span>
    </>
  )
}
