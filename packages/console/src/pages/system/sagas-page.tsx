// The workflows behind bulk runs, newest first.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Button } from '../../components/controls/button.tsx'
import { Select } from '../../components/controls/select.tsx'
import { useListKeys } from '../../components/lists/list-keys.ts'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Empty, PageHead, Skeleton, Verdict } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { useLive, useSlow } from '../../data/live.ts'
import { type Saga, sagasQuery } from '../../data/queries/system.ts'
import { counted } from '../../domain/words.ts'

const route = getRouteApi('/system/sagas')
const statuses = ['STARTED', 'RUNNING', 'COMPLETED', 'COMPENSATING', 'FAILED', 'CANCELLED'] as const
const pageSize = 50

export function SagasPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/system/sagas' })
  const status = statuses.find((one) => one === search.status)
  const page = Math.max(1, Number(search.page ?? 1) || 1)
  const list = useQuery({
    ...sagasQuery({ page, ...(status === undefined ? {} : { status }) }),
    refetchInterval: useLive(5000),
  })
  const slow = useSlow(list.isPending)
  const sagas = list.data?.sagas ?? []
  const total = list.data?.total_count ?? 0
  const go = (to: number) =>
    void navigate({ search: ({ page: _, ...old }) => (to === 1 ? old : { ...old, page: String(to) }) })
  useListKeys()
  return (
    <>
      <PageHead
        title="Workflows"
        back={<Link to="/system">System</Link>}
        aside={
          <Select
            label="State"
            hiddenLabel
            value={status ?? 'any'}
            choices={[{ id: 'any', text: 'in any state' }, ...statuses.map((id) => ({ id: id as string, text: id }))]}
            onChange={(id) => void navigate({ search: id === 'any' ? {} : { status: id }, replace: true })}
          />
        }
      >
        {list.data === undefined ? (
          <Verdict />
        ) : (
          <Verdict dim={list.isPlaceholderData}>
            {counted(total, 'workflow')}
            {status === undefined ? '' : ` in ${status}`}. Each bulk run is one: a row of steps that are taken back if
            the run is cancelled.
          </Verdict>
        )}
      </PageHead>
      <QueryFault query={list} what="The workflows cannot be read" />
      {slow ? <Skeleton rows={8} /> : null}
      {list.data !== undefined && sagas.length === 0 ? (
        <Empty>No workflow is here; a token that is limited to some topics sees none.</Empty>
      ) : null}
      {sagas.length === 0 ? null : <Rows sagas={sagas} />}
      {page > 1 || total > page * pageSize ? (
        <p>
          <Button isDisabled={page === 1} onPress={() => go(page - 1)}>
            Newer
          </Button>{' '}
          <Button isDisabled={total <= page * pageSize} onPress={() => go(page + 1)}>
            Older
          </Button>
        </p>
      ) : null}
    </>
  )
}

function Rows({ sagas }: { sagas: readonly Saga[] }) {
  return (
    <Table
      label="Workflows"
      columns={[{ text: 'Workflow' }, { text: 'State' }, { text: 'By' }, { text: 'Began' }, { text: 'Changed' }]}
    >
      {sagas.map(({ id, workflow_name, status, error_message, initiated_by, created_at, updated_at }) => (
        <tr key={id}>
          <Cell>
            <Link to="/system/sagas/$id" params={{ id }} data-row>
              {workflow_name}
            </Link>
            <Under>…{id.slice(-8)}</Under>
          </Cell>
          <Cell>
            <span data-outcome={status}>{status}</span>
            {error_message === null ? null : <Under>{error_message}</Under>}
          </Cell>
          <Cell label="By">{initiated_by ?? 'nobody'}</Cell>
          <Cell label="Began">
            <Time at={created_at} />
          </Cell>
          <Cell label="Changed">
            <Time at={updated_at} />
          </Cell>
        </tr>
      ))}
    </Table>
  )
}
