// All policies in the order in which they win, and for one topic which layer decides what.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { ComboBox } from '../../components/controls/combo-box.tsx'
import { Dialog, DialogActions } from '../../components/controls/dialog.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { useListKeys } from '../../components/lists/list-keys.ts'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Empty, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { useLive, useSlow } from '../../data/live.ts'
import { type Policies, policiesQuery } from '../../data/queries/policies.ts'
import { knownTopicsQuery, type Topic } from '../../data/queries/topics.ts'
import { useMissingRole } from '../../data/session.ts'
import { byExactness } from '../../domain/policies/cascade.ts'
import { saidWords } from '../../domain/policies/policy-words.ts'
import { counted, numberText } from '../../domain/words.ts'
import { CascadeTable } from './cascade-table.tsx'
import styles from './policies.module.css'

const route = getRouteApi('/policies')

export function PoliciesPage() {
  const { topic: chosen } = route.useSearch()
  const navigate = useNavigate({ from: '/policies' })
  const policies = useQuery({ ...policiesQuery, refetchInterval: useLive(15_000) })
  const topics = useQuery(knownTopicsQuery)
  const slow = useSlow(policies.isPending)
  const refusal = useMissingRole('sys_admin', { ofAll: true })
  const [naming, setNaming] = useState(false)
  const known = topics.data ?? []
  useListKeys()
  return (
    <>
      <PageHead
        title="Policies"
        aside={
          <Button refusal={refusal} onPress={() => setNaming(true)}>
            New policy…
          </Button>
        }
      >
        {policies.data === undefined ? <Verdict /> : <Verdict>{verdict(policies.data)}</Verdict>}
      </PageHead>
      <QueryFault query={policies} what="The policies cannot be read" />
      {slow ? <Skeleton rows={6} tall /> : null}
      {policies.data === undefined ? null : <Layers policies={policies.data} topics={known} />}
      {policies.data === undefined ? null : (
        <Section title="What decides for a topic">
          <div className={styles.chooser}>
            <ComboBox
              label="Topic"
              value={chosen ?? ''}
              names={known.map(({ topic }) => topic)}
              placeholder="Choose a topic"
              onChange={(topic) => void navigate({ search: { topic }, replace: true, resetScroll: false })}
            />
          </div>
          {chosen === undefined || chosen === '' ? (
            <p className={styles.quiet}>
              For one topic: every layer that says something of it, from the built-in defaults to the most exact
              pattern. The last one that speaks decides.
            </p>
          ) : (
            <CascadeTable
              policies={policies.data}
              topic={chosen}
              dlqTopic={known.find(({ topic }) => topic === chosen)?.counterparts[0] ?? null}
            />
          )}
        </Section>
      )}
      {naming ? <NewPolicy onClose={() => setNaming(false)} /> : null}
    </>
  )
}

function verdict({ policies, configured }: Policies): string {
  const entries = configured.length
  const below =
    entries === 0
      ? 'the built-in defaults'
      : `the built-in defaults and ${counted(entries, 'entry', 'entries')} of the configuration`
  return policies.length === 0
    ? `Nobody has set a policy: ${below} decide for every topic.`
    : `${counted(policies.length, 'policy is', 'policies are')} set, above ${below}. Of those that match a topic the last one decides, setting by setting.`
}

function Layers({
  policies: { policies, configured, defaults },
  topics,
}: {
  policies: Policies
  topics: readonly Topic[]
}) {
  const decided = (source: 'default' | 'config' | 'policy', pattern: string | null) =>
    topics.filter(({ policy }) =>
      Object.values(policy).some((said) => said.source === source && said.pattern === pattern),
    ).length
  return (
    <>
      <Table
        label="Policies, the weakest first"
        columns={[{ text: 'Pattern' }, { text: 'Says' }, { text: 'Decides for', number: true }, { text: 'Changed' }]}
      >
        <tr data-below>
          <Cell>Built-in defaults</Cell>
          <Cell>
            <details className={styles.defaults}>
              <summary>every setting</summary>
              <span>{saidWords(defaults)}</span>
            </details>
          </Cell>
          <Cell number label="Decides for">
            {numberText(decided('default', null))}
          </Cell>
          <Cell> </Cell>
        </tr>
        {configured.map(({ pattern, ...said }) => (
          <tr key={pattern ?? ''} data-below>
            <Cell>
              {pattern ?? 'every topic'}
              <Under>of the configuration</Under>
            </Cell>
            <Cell>{saidWords(said)}</Cell>
            <Cell number label="Decides for">
              {numberText(decided('config', pattern))}
            </Cell>
            <Cell> </Cell>
          </tr>
        ))}
        {byExactness(policies).map((policy) => (
          <tr key={policy.pattern}>
            <Cell>
              <Link to="/policies/$pattern" params={{ pattern: policy.pattern }} data-row className={styles.pattern}>
                {policy.pattern}
              </Link>
            </Cell>
            <Cell>{saidWords(policy)}</Cell>
            <Cell number label="Decides for">
              {numberText(decided('policy', policy.pattern))}
            </Cell>
            <Cell label="Changed">
              <Time at={policy.updated_at} />
            </Cell>
          </tr>
        ))}
      </Table>
      {policies.length > 0 ? null : (
        <Empty>
          <p>
            A policy is a pattern of topics and what is said for them: how often, how fast, where to. What it does not
            say, a weaker layer decides.
          </p>
        </Empty>
      )}
    </>
  )
}

const legalPattern = /^[A-Za-z0-9_.*?-]{1,249}$/

function NewPolicy({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [pattern, setPattern] = useState('')
  const [tried, setTried] = useState(false)
  const legal = legalPattern.test(pattern.trim())
  return (
    <Dialog title="New policy" onClose={onClose}>
      <Form
        onSubmit={(event) => {
          event.preventDefault()
          setTried(true)
          if (legal) void navigate({ to: '/policies/$pattern/edit', params: { pattern: pattern.trim() }, search: {} })
        }}
      >
        <div className={styles.form}>
          <TextField
            label="Topic or pattern"
            value={pattern}
            onChange={setPattern}
            mono
            autoFocus
            note="A name, or a pattern with * and ?: orders, orders.*, *"
            fault={tried && !legal ? 'Write one pattern of letters, digits, ".", "_", "-", "*" and "?".' : null}
          />
          <DialogActions>
            <Button onPress={onClose}>Leave it</Button>
            <Button type="submit" look="primary">
              Say what applies
            </Button>
          </DialogActions>
        </div>
      </Form>
    </Dialog>
  )
}
