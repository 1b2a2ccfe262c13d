// A thing that is not there, or not for this person: which kind of thing it was, and ways on.

import type { ReactNode } from 'react'
import { type Fault, FaultText } from './fault.tsx'
import { PageHead } from './page.tsx'

type Props = {
  /** "topic", "policy". */
  kind: string
  name: string
  fault: Fault & { status: number }
  /** The link to the list of its kind. */
  list: ReactNode
  onRetry: () => unknown
}

export function Missing({ kind, name, fault, list, onRetry }: Props) {
  // An id that is none is not there either, and asking again does not help.
  const gone = fault.status === 404 || fault.status === 400
  return (
    <PageHead title={gone ? `No such ${kind}` : `The ${kind} cannot be read`} back={list}>
      {gone ? (
        <p>
          There is no {kind} <code>{name}</code>, or your token may not see it. The search above takes names, ids, keys
          and text of errors.
        </p>
      ) : (
        <FaultText fault={fault} onRetry={onRetry} />
      )}
    </PageHead>
  )
}
