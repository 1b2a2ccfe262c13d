// A text of strangers: what is read from right to left keeps to itself, and what would turn the text around is named.

import { useMemo } from 'react'
import { type Part, piecesOf } from '../../domain/payload/directions.ts'
import styles from './directed-text.module.css'

export function DirectedText({ text }: { text: string }) {
  const pieces = useMemo(() => piecesOf(text), [text])
  if (pieces === null) return text
  return pieces.map(({ isApart, parts }, at) =>
    isApart ? (
      <bdi key={`${at} apart`}>
        <Parts parts={parts} />
      </bdi>
    ) : (
      <Parts key={`${at} beside`} parts={parts} />
    ),
  )
}

function Parts({ parts }: { parts: readonly Part[] }) {
  return parts.map(({ text, isName }, at) =>
    isName ? (
      <span key={`${at} ${text}`} className={styles.named} title="An invisible character that turns the text around">
        {text}
      </span>
    ) : (
      text
    ),
  )
}
