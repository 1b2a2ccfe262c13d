// The rows, of which only those in sight are in the page. Further pages are read before the end is reached.

import { Link, useNavigate } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { Checkbox } from '../../components/controls/checkbox.tsx'
import { useKeys } from '../../components/keys.ts'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { SpokenMark, StatusBadge } from '../../components/show/status.tsx'
import { Time } from '../../components/show/time.tsx'
import { say } from '../../components/toasts.tsx'
import type { ListedMessage } from '../../data/queries/messages.ts'
import type { PageWindow } from '../../domain/lists/page-window.ts'
import { namedSteering } from '../../domain/payload/directions.ts'
import { bytesText, counted, shortClass } from '../../domain/words.ts'
import styles from './messages.module.css'

type Props = {
  kept: PageWindow<ListedMessage>
  /** So many rows were seen so far. Those that are not kept are empty until they are read again. */
  count: number
  dim: boolean
  hasMore: boolean
  /** These rows are in sight. */
  onShow: (first: number, last: number) => void
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
  /** The query of this list, for the way back. */
  from: string
}

const rowPx = 52

export function MessageRows({ kept, count, dim, hasMore, onShow, chosen, onChoose, from }: Props) {
  const navigate = useNavigate()
  const list = useRef<HTMLTableSectionElement>(null)
  const [at, setAt] = useState(0)
  const [anchor, setAnchor] = useState(0)
  const rows = useWindowVirtualizer({
    count,
    estimateSize: () => rowPx,
    overscan: 8,
    scrollMargin: list.current?.offsetTop ?? 0,
  })
  const shown = rows.getVirtualItems()
  const first = shown[0]?.index ?? 0
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => onShow(first, last))

  const choose = (index: number, range: boolean) => {
    const next = new Set(chosen)
    const [from, to] = range ? [Math.min(anchor, index), Math.max(anchor, index)] : [index, index]
    const ids: string[] = []
    for (let row = from; row <= to; row++) {
      const id = kept.at(row)?.id
      if (id !== undefined) ids.push(id)
    }
    if (ids.length <= to - from) say(`${counted(ids.length, 'row')} selected; the others are not loaded any more`)
    const remove = !range && ids.length === 1 && next.has(ids[0]!)
    for (const id of ids) {
      if (remove) next.delete(id)
      else next.add(id)
    }
    setAnchor(index)
    onChoose(next)
  }
  const move = (by: number) => {
    const next = Math.max(0, Math.min(count - 1, at + by))
    setAt(next)
    const row = list.current?.querySelector(`[aria-rowindex="${next + 2}"]`)
    if (row == null) return rows.scrollToIndex(next, { align: 'center' })
    row.querySelector('a')?.focus({ preventScroll: true })
    // Not by the virtual list: that knows nothing of the bars over the page.
    row.scrollIntoView({ block: 'nearest' })
  }
  const open = () => {
    const message = kept.at(at)
    if (message !== null) void navigate({ to: '/messages/$id', params: { id: message.id }, search: { in: from } })
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: open,
    x: () => choose(at, false),
    'Shift+x': () => choose(at, true),
  })
  const all = kept.rows.length > 0 && chosen.size > 0 && kept.rows.every(({ id }) => chosen.has(id))
  return (
    <table className={styles.table} data-dim={dim} aria-label="Messages" aria-rowcount={hasMore ? -1 : count + 1}>
      <thead>
        <tr className={styles.head} aria-rowindex={1}>
          <th scope="col">
            <Checkbox
              label="Select what is loaded"
              checked={all}
              partly={chosen.size > 0 && !all}
              onChange={(on) => onChoose(on ? new Set(kept.rows.map(({ id }) => id)) : new Set())}
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
          const message = kept.at(index)
          const style = { transform: `translateY(${start - rows.options.scrollMargin}px)` }
          if (message === null)
            return (
              <tr key={index} aria-rowindex={index + 2} className={styles.row} style={style}>
                <td />
                <td />
                <td className={styles.quiet}>
                  {index < kept.start || index >= kept.end ? 'Loading …' : 'No longer in this list'}
                </td>
              </tr>
            )
          return (
            <tr
              key={message.id}
              aria-rowindex={index + 2}
              className={styles.row}
              data-current={index === at}
              data-chosen={chosen.has(message.id)}
              style={style}
            >
              <td>
                <Checkbox
                  label={`Select ${namedSteering(message.error_message.slice(0, 80))}`}
                  checked={chosen.has(message.id)}
                  onChange={() => choose(index, false)}
                />
              </td>
              <td>
                <StatusBadge status={message.status} />
              </td>
              <td className={styles.error}>
                <Link to="/messages/$id" params={{ id: message.id }} search={{ in: from }} onFocus={() => setAt(index)}>
                  <DirectedText text={message.error_message} />
                </Link>
                <span className={styles.quiet}>
                  <span className={styles.narrow}>
                    <SpokenMark status={message.status} /> {message.original_topic}
                    {' · '}
                  </span>
                  {message.error_class === null ? null : (
                    <>
                      <bdi>
                        <DirectedText text={shortClass(message.error_class)} />
                      </bdi>
                      {' · '}
                    </>
                  )}
                  {message.hidden?.includes('/preview') ? (
                    'value hidden by a mask'
                  ) : (
                    <bdi>
                      <DirectedText text={message.preview || valueWords(message.value_bytes)} />
                    </bdi>
                  )}
                </span>
              </td>
              <td className={styles.cut} title={namedSteering(message.original_topic)}>
                <DirectedText text={message.original_topic} />
                <span className={styles.quiet}>{message.consumer_group ?? ''}</span>
              </td>
              <td className={styles.cut}>
                <code>
                  <DirectedText text={message.key?.value ?? '–'} />
                </code>
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

/** Of a value that is no text, or has none. */
function valueWords(bytes: number | null | undefined): string {
  return bytes == null ? 'no value' : bytesText(bytes)
}
