// The messages of a group, the newest first, one of them open. The address names it, so that a link, a reload and the way
// back show the same message while newer ones come in.

import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { useKeys } from '../../components/keys.ts'
import type { ValueLook } from '../../components/message/value-view.tsx'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Empty, Section, Skeleton } from '../../components/show/page.tsx'
import { SpokenMark } from '../../components/show/status.tsx'
import { Time } from '../../components/show/time.tsx'
import { useSlow } from '../../data/live.ts'
import type { messagesQuery } from '../../data/queries/messages.ts'
import { numberText } from '../../domain/words.ts'
import { MessageGlance } from '../message/message-glance.tsx'
import styles from './group.module.css'

type Props = {
  id: string
  query: ReturnType<typeof messagesQuery>
  total: number
  /** The id of the message that is to be open; null: the newest. */
  asked: string | null
  look: ValueLook | null
  onShow: (id: string | null) => void
}

export function GroupMessages({ id, query, total, asked, look, onShow }: Props) {
  const navigate = useNavigate({ from: '/groups/$id' })
  const list = useInfiniteQuery(query)
  const slow = useSlow(list.isPending)
  const messages = list.data?.pages.flatMap((page) => page.messages) ?? []
  const openId = asked ?? messages[0]?.id ?? null
  // From 1; 0 where it is not among those that are loaded: then it has no neighbours yet.
  const place = messages.findIndex((message) => message.id === openId) + 1
  useEffect(() => onShow(openId), [openId, onShow])
  const go = (to: number) => {
    const next = messages[to - 1]
    if (next === undefined) return
    void navigate({
      params: { id },
      search: (old) => ({ ...old, open: to === 1 ? undefined : next.id }) as never,
      replace: true,
    })
  }
  const newer = () => go(place - 1)
  const older = () => {
    if (place > 0) go(place + 1)
  }
  useKeys({
    j: older,
    k: newer,
    ']': older,
    '[': newer,
    '.': () => void list.refetch(),
    o: () => {
      if (openId !== null)
        void navigate({ to: '/messages/$id', params: { id: openId }, search: { in: `group_id=${id}` } })
    },
  })
  const fault = list.error === null ? null : <QueryFault query={list} what="The messages cannot be read" withAge />
  if (list.data === undefined) return fault ?? (slow ? <Skeleton rows={8} /> : null)
  if (openId === null) return <Empty>No message is left in this group.</Empty>
  return (
    <div className={styles.split}>
      <Section
        title={place === 1 ? 'Newest' : place === 0 ? 'Message' : `Message ${place}`}
        aside={
          <>
            <Button look="quiet" label="Newer" isDisabled={place <= 1} onPress={newer}>
              ‹
            </Button>
            {place === 0 ? null : (
              <span>
                {numberText(place)} of {numberText(total)}
              </span>
            )}
            <Button look="quiet" label="Older" isDisabled={place === 0 || place === messages.length} onPress={older}>
              ›
            </Button>
            <Link to="/messages/$id" params={{ id: openId }} search={{ in: `group_id=${id}` }}>
              Open
            </Link>
          </>
        }
      >
        <MessageGlance
          id={openId}
          look={look}
          onLook={(view) =>
            void navigate({ params: { id }, search: (old) => ({ ...old, view }) as never, replace: true })
          }
        />
      </Section>
      <Section
        title={`All ${numberText(total)}`}
        aside={
          <>
            <Button look="quiet" onPress={() => void list.refetch()}>
              Show new
            </Button>
            <Link to="/messages" search={{ group_id: id }}>
              As a list
            </Link>
          </>
        }
      >
        {fault}
        <ol className={styles.list}>
          {messages.map((message, index) => (
            <li key={message.id}>
              <button
                type="button"
                className={styles.item}
                aria-current={index === place - 1}
                onClick={() => go(index + 1)}
              >
                <SpokenMark status={message.status} />
                <Time at={message.last_failed_at} />
                <span className={styles.key}>
                  <DirectedText text={message.key?.value ?? message.id.slice(-8)} />
                </span>
                <span className={styles.tries}>
                  {message.retry_count}/{message.max_retries}
                </span>
              </button>
            </li>
          ))}
        </ol>
        {list.hasNextPage ? (
          <Button onPress={() => void list.fetchNextPage()} isPending={list.isFetchingNextPage}>
            {list.isFetchingNextPage ? 'Loading …' : 'Older ones'}
          </Button>
        ) : null}
      </Section>
    </div>
  )
}
