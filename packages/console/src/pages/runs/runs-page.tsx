// All runs, the newest first.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Button } from '../../components/controls/button.tsx'
import { Select } from '../../components/controls/select.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Empty, PageHead, Skeleton, Verdict } from '../../components/show/page.tsx'
import { ProgressBar } from '../../components/show/progress.tsx'
import { Time } from '../../components/show/time.tsx'
import { TicketText } from '../../components/tool-links.tsx'
import { useLive, useSlow } from '../../data/live.ts'
import { activeRunsQuery, runListQuery } from '../../data/queries/runs.ts'
import { activeStatuses, partsOf, progressWords, runTitle } from '../../domain/runs.ts'
import { counted } from '../../domain/words.ts'
import styles from '../run/run.module.css'
import { SelectionText } from '../run/selection-text.tsx'

const route = getRouteApi('/runs')
const statuses = ['any', ...activeStatuses, 'completed', 'cancelled', 'failed']

export function RunsPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/runs' })
  const list = useQuery({ ...runListQuery(search), refetchInterval: useLive(5000) })
  const active = useQuery(activeRunsQuery).data?.length
  const slow = useSlow(list.isPending)
  const page = Number(search.page ?? 1)
  const runs = list.data?.runs ?? []
  return (
    <>
      <PageHead
        title="Runs"
        documentTitle={active ? `${counted(active, 'run')} active` : 'Runs'}
        aside={
          <Select
            label="State"
            hiddenLabel
            value={search.status ?? 'any'}
            choices={statuses.map((id) => ({ id, text: id === 'any' ? 'in any state' : id }))}
            onChange={(status) =>
              void navigate({
                search: ({ page: _, status: __, ...old }) => (status === 'any' ? old : { ...old, status }),
                replace: true,
              })
            }
          />
        }
      >
        {active === undefined ? (
          <Verdict />
        ) : (
          <Verdict>{active === 0 ? 'No run is active.' : `${counted(active, 'run is', 'runs are')} active.`}</Verdict>
        )}
      </PageHead>
      <QueryFault query={list} what="The runs cannot be read" />
      {slow ? <Skeleton rows={8} tall /> : null}
      {list.data !== undefined && runs.length === 0 ? (
        <Empty>
          <p>
            A run does one thing to many messages: it sends, changes, gives up or deletes a frozen selection, at a rate,
            with a canary. It begins at an <Link to="/groups">error group</Link> or at a{' '}
            <Link to="/messages">list of messages</Link>. Drafts are links; they are not kept anywhere.
          </p>
        </Empty>
      ) : null}
      {runs.length === 0 ? null : (
        <table className={styles.table} aria-label="Runs" data-dim={list.isPlaceholderData}>
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">What</th>
              <th scope="col">By</th>
              <th scope="col">Progress</th>
              <th scope="col">Began</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={run.id}>
                <td>{run.status}</td>
                <td>
                  <Link to="/runs/$id" params={{ id: run.id }} search={{}}>
                    {runTitle(run)}
                  </Link>
                  <div className={styles.quiet}>
                    <SelectionText selection={run.selection} />
                  </div>
                </td>
                <td>
                  {run.actor}
                  {run.reason === null ? null : (
                    <div className={styles.quiet}>
                      <TicketText text={run.reason} />
                    </div>
                  )}
                </td>
                <td>
                  <ProgressBar parts={partsOf(run)} label={progressWords(run)} small />
                  <div className={styles.quiet}>{progressWords(run)}</div>
                </td>
                <td>
                  <Time at={run.created_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {page > 1 || runs.length === 50 ? (
        <p>
          <Button
            isDisabled={page === 1}
            onPress={() => void navigate({ search: (old) => ({ ...old, page: String(page - 1) }) })}
          >
            Newer
          </Button>{' '}
          <Button
            isDisabled={runs.length < 50 || list.isPlaceholderData}
            onPress={() => void navigate({ search: (old) => ({ ...old, page: String(page + 1) }) })}
          >
            Older
          </Button>
        </p>
      ) : null}
    </>
  )
}
