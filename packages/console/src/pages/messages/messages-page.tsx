// Any list of messages. The filter is the address; rows are virtual, so that the list may be as long as it is.

import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Button, buttonClass } from '../../components/controls/button.tsx'
import { Menu } from '../../components/controls/menu.tsx'
import { Select } from '../../components/controls/select.tsx'
import { useKeys } from '../../components/keys.ts'
import { lazyPart } from '../../components/lazy-part.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { ActionBar, Empty, Notice, PageHead, Skeleton, Verdict } from '../../components/show/page.tsx'
import { useChosen } from '../../data/drafts/chosen-messages.ts'
import { printDraftHash } from '../../data/drafts/run-drafts.ts'
import { useNow, useSlow } from '../../data/live.ts'
import { useMessageWindow } from '../../data/queries/content/message-window.ts'
import type { ListSort } from '../../data/queries/messages.ts'
import { filterOf, printSearch, requestFilter, type Search, unknownNames } from '../../domain/addresses.ts'
import { isPartOfAll, matchWords } from '../../domain/lists/match-total.ts'
import { listChoices } from '../../domain/lists/run-choices.ts'
import { totalText } from '../../domain/runs.ts'
import { counted, listed } from '../../domain/words.ts'
import { FilterBar } from './filter-bar.tsx'
import { MessageRows } from './message-rows.tsx'
import styles from './messages.module.css'

const ActivityRail = lazyPart(() => import('./activity-rail.tsx').then(({ ActivityRail }) => ActivityRail))
const Facets = lazyPart(() => import('./facets.tsx').then(({ Facets }) => Facets))
const TakeAway = lazyPart(() => import('./take-away.tsx').then(({ TakeAway }) => TakeAway))

const route = getRouteApi('/messages')
const sorts: { id: ListSort; text: string }[] = [
  { id: 'newest', text: 'newest first' },
  { id: 'oldest', text: 'oldest first' },
  { id: 'next_due', text: 'next due first' },
]
/** What is archived is never due. */
const archiveSorts = sorts.filter(({ id }) => id !== 'next_due')

export function MessagesPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/messages' })
  const now = useNow()
  const filter = filterOf(search as Search)
  const isArchive = filter.archived === 'true'
  const orders = isArchive ? archiveSorts : sorts
  const sort = orders.find(({ id }) => id === search.sort)?.id ?? 'newest'
  const { list, window: kept, known, show, refresh, total, last: lastPage } = useMessageWindow(filter, sort)
  const slow = useSlow(list.isPending)
  const [chosen, setChosen] = useChosen(printSearch(filter))
  const choose = (ids: ReadonlySet<string>) => {
    // Until the list of another filter has come, the rows of the one before are shown: none of them is meant.
    if (!list.isPlaceholderData) setChosen(ids)
  }
  const last = lastPage?.pagination
  const unknown = unknownNames(search as Search)
  const allLoaded = kept.rows.every(({ id }) => chosen.has(id))
  // A draft's address says the same to whoever opens it later.
  const pinned = requestFilter(filter, new Date(now))
  const setFilter = (next: Search) =>
    void navigate({ search: { ...(search.sort === undefined ? {} : { sort: search.sort }), ...next } })
  useKeys({ '.': () => void refresh() })

  return (
    <>
      <PageHead
        title="Messages"
        documentTitle={total === null ? 'Messages' : `${totalText(total)} messages`}
        aside={
          <>
            <Select
              label="Order"
              hiddenLabel
              value={sort}
              choices={orders}
              onChange={(to) =>
                void navigate({ search: (old) => ({ ...old, sort: to === 'newest' ? undefined : to }) as never })
              }
            />
            <Button onPress={() => void refresh()} hint=".">
              Show new
            </Button>
            <TakeAway search={search as Search} />
          </>
        }
      >
        {list.data === undefined ? (
          <Verdict />
        ) : (
          <Verdict dim={list.isPlaceholderData}>
            {total === null ? `${counted(known, 'message')} shown.` : matchWords(total)}
          </Verdict>
        )}
      </PageHead>
      <FilterBar filter={filter} onChange={setFilter} />
      {unknown.length === 0 ? null : (
        <Notice look="plain">
          <span>
            {listed(unknown)} {unknown.length === 1 ? 'is no filter' : 'are no filters'}: the list is not narrowed by
            that.
          </span>
          <Button look="quiet" onPress={() => setFilter(filter)}>
            Take it away
          </Button>
        </Notice>
      )}
      {/* It keeps its place before it is there: rows that moved would be pressed in vain. */}
      <div className={isArchive ? styles.over : `${styles.over} ${styles.withRail}`}>
        <ActivityRail filter={filter} onPick={(arrived_to) => setFilter({ ...filter, arrived_to })} />
        <Facets filter={filter} onNarrow={(added) => setFilter({ ...filter, ...added })} />
      </div>
      <QueryFault query={list} what="The messages cannot be read" />
      {slow ? <Skeleton rows={12} /> : null}
      {chosen.size === 0 ? (
        <Selected
          isArchive={isArchive}
          text={
            total === null || total.value === 0 || list.isPlaceholderData ? null : `All ${totalText(total)} that match`
          }
          search={pinned as Record<string, string>}
        />
      ) : (
        <Selected
          isArchive={isArchive}
          text={`${counted(chosen.size, 'message')} selected`}
          search={{ ids: String(chosen.size) }}
          hash={printDraftHash({ ids: [...chosen] })}
          onClear={() => setChosen(new Set())}
          all={
            total !== null && isPartOfAll(total, { chosen: chosen.size, allLoaded })
              ? `Select all ${totalText(total)} that match`
              : null
          }
        />
      )}
      {list.data !== undefined && known === 0 && last?.bounded !== true ? (
        <Empty>
          <p>No dead letter matches.</p>
          {isArchive ? null : (
            <p>
              <Link to="/messages" search={{ ...filter, archived: 'true' }}>
                Look in the archive
              </Link>
            </p>
          )}
        </Empty>
      ) : list.data === undefined ? null : (
        <MessageRows
          kept={kept}
          count={known}
          dim={list.isPlaceholderData}
          hasMore={list.hasNextPage}
          onShow={(first, last) => void show(first, last)}
          chosen={chosen}
          onChoose={choose}
          from={printSearch({ ...filter, sort: sort === 'newest' ? undefined : sort }).slice(1)}
        />
      )}
      {last?.bounded === true ? (
        <Notice look="plain">
          <span>
            {last.searched_to === null ? 'The search has not come to its end' : `Looked back to ${last.searched_to}`};{' '}
            {counted(known, 'message')} found.
          </span>
          <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
            {list.isFetchingNextPage ? 'Looking …' : 'Go on looking'}
          </Button>
        </Notice>
      ) : null}
    </>
  )
}

type SelectedProps = {
  text: string | null
  isArchive: boolean
  search: Readonly<Record<string, string>>
  hash?: string
  /** Where nothing is selected, what is done is done to all that match. */
  onClear?: () => void
  /** Of a button that takes all instead. */
  all?: string | null
}

/** What a run would touch, in words, before it is drafted. */
function Selected({ text, isArchive, search, hash, onClear, all = null }: SelectedProps) {
  const navigate = useNavigate()
  if (text === null) return null
  const { first, more } = listChoices({ isArchive, areChosen: hash !== undefined })
  const draftOf = (kind: string) =>
    ({ to: '/runs/new', search: { ...search, kind }, ...(hash === undefined ? {} : { hash }) }) as const
  return (
    <ActionBar label="What can be done with them">
      <span className={styles.selected}>{text}:</span>
      {first.map(({ id, text }) => (
        <Link key={id} {...draftOf(id)} className={buttonClass()}>
          {text}
        </Link>
      ))}
      {more.length === 0 ? null : (
        <Menu label="More runs" choices={more} onChoose={(kind) => void navigate(draftOf(kind))} />
      )}
      {onClear === undefined || all === null ? null : (
        <Button look="quiet" onPress={onClear}>
          {all}
        </Button>
      )}
      {onClear === undefined ? null : (
        <Button look="quiet" onPress={onClear}>
          Clear
        </Button>
      )}
    </ActionBar>
  )
}
