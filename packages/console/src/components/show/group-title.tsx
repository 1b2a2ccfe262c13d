// An error group in one line: its class short, and its place in the code.

import { shortClass } from '../../domain/words.ts'
import styles from './group-title.module.css'

type Props = { title: string; errorClass: string | null; location: string | null; message: string }

export function GroupTitle({ title, errorClass, location, message }: Props) {
  if (errorClass === null) return <span className={styles.name}>{title}</span>
  const place = location === null ? null : location.replace(/ \(.*\)$/, '')
  return (
    <>
      <span className={styles.name}>{shortClass(errorClass)}</span>
      {place === null ? (
        <span className={styles.quiet}> {message}</span>
      ) : (
        <span className={styles.quiet}> in {place}</span>
      )}
    </>
  )
}
