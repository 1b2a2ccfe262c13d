// The rows, of which only those in sight are in the page. Further pages are read before the end is reached.

import { Link, useNavigate } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { Checkbox } from '../../components/controls/checkbox.tsx'
import { useKeys } from '../../components/keys.ts'
import { StatusBadge } from '../../components/show/status.tsx'
import { Time } from '../../components/show/time.tsx'
import type { ListedMessage } from '../../data/queries/messages.ts'
import { shortClass } from '../../domain/words.ts'
import styles from './messages.module.css'

type Props = {
  messages: readonly ListedMessage[]
  dim: boolean
  hasMore: boolean
  onMore: () => void
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
  /** The query of this list, for the way back. */
  from: string
}

const rowPx = 52

export function MessageRows({ messages, dim, hasMore, onMore, chosen, onChoose, from }: Props) {
  const navigate = useNavigate()
  const list = useRef<HTMLTableSectionElement>(null)
  const [at, setAt] = useState(0)
  const [anchor, setAnchor] = useState(0)
  const rows = useWindowVirtualizer({
    count: messages.length,
    estimateSize: () => rowPx,
    overscan: 8,
    scrollMargin: list.current?.offsetTop ?? 0,
  })
  const shown = rows.getVirtualItems()
  const lastShown = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && lastShown >= messages.length - 20) onMore()
  }, [hasMore, lastShown, messages.length, onMore])

  const choose = (index: number, range: boolean) => {
    const next = new Set(chosen)
    const [first, last] = range ? [Math.min(anchor, index), Math.max(anchor, index)] : [index, index]
    const ids = messages.slice(first, last + 1).map(({ id }) => id)
    const remove = !range && next.has(ids[0]!)
    for (const id of ids) {
      if (remove) next.delete(id)
      else next.add(id)
    }
    setAnchor(index)
    onChoose(next)
  }
  const move = (by: number) => {
    const next = Math.max(0, Math.min(messages.length - 1, at + by))
    setAt(next)
    rows.scrollToIndex(next)
  }
  const open = () => {
    const message = messages[at]
    if (message !== undefined) void navigate({ to: '/messages/$id', params: { id: message.id }, search: { in: from } })
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: open,
    x: () => choose(at, false),
    'Shift+x': () => choose(at, true),
  })
  const all = messages.length > 0 && chosen.size >= messages.length
  return (
    <table
      className={styles.table}
      data-dim={dim}
      aria-label="Messages"
      aria-rowcount={hasMore ? -1 : messages.length + 1}
    >
      <thead>
        <tr className={styles.head} aria-rowindex={1}>
          <th scope="col">
            <Checkbox
              label="Select what is loaded"
              checked={all}
              partly={chosen.size > 0 && !all}
              onChange={(on) => onChoose(on ? new Set(messages.map(({ id }) => id)) : new Set())}
            />
          </th>
          <th scope="col">State</th>
          <th scope="col">Error</th>
          <th scope="col">Topic</th>
          <th scope="col">Key</th>
          <th scope="col">Attempts</th>
          <th scope="col">Failed</th>
        </tr>
      </thead>
      <tbody ref={list} className={styles.rows} style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const message = messages[index]!
          return (
            <tr
              key={message.id}
              aria-rowindex={index + 2}
              className={styles.row}
              data-current={index === at}
              data-chosen={chosen.has(message.id)}
              style={{ transform: `translateY(${start - rows.options.scrollMargin}px)` }}
            >
              <td>
                <Checkbox
                  label={`Select ${message.error_message.slice(0, 80)}`}
                  checked={chosen.has(message.id)}
                  onChange={() => choose(index, false)}
                />
              </td>
              <td>
                <StatusBadge status={message.status} />
              </td>
              <td className={styles.error}>
                <Link to="/messages/$id" params={{ id: message.id }} search={{ in: from }} onFocus={() => setAt(index)}>
                  {message.error_message}
                </Link>
                <span className={styles.quiet}>
                  {message.error_class === null ? '' : `${shortClass(message.error_class)} · `}
                  {message.hidden?.includes('/preview') ? 'value hidden by a mask' : (message.preview ?? '')}
                </span>
              </td>
              <td className={styles.cut} title={message.original_topic}>
                {message.original_topic}
                <span className={styles.quiet}>{message.consumer_group ?? ''}</span>
              </td>
              <td className={styles.cut}>
                <code>{message.key?.value ?? '–'}</code>
              </td>
              <td className={styles.number}>
                {message.retry_count}/{message.max_retries}
              </td>
              <td className={styles.number}>
                <Time at={message.last_failed_at} />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
