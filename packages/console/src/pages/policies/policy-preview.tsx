// Beside the editor: the waits that follow from what is typed, and every topic that would change.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { QueryFault } from '../../components/show/fault.tsx'
import { Section } from '../../components/show/page.tsx'
import { type Policies, type PolicyMatch, previewQuery } from '../../data/queries/policies.ts'
import type { Topic } from '../../data/queries/topics.ts'
import { policyWith } from '../../domain/policies/cascade.ts'
import type { SaidSettings } from '../../domain/policies/policy-form.ts'
import { changeWords } from '../../domain/policies/policy-words.ts'
import { sampleTopics } from '../../domain/policies/sample-topic.ts'
import { type SettingValue, settingWords, valueWords } from '../../domain/policies/setting-words.ts'
import { drawnWaits, type Wait, waitShare, waitsOf, waitWords } from '../../domain/policies/waits.ts'
import { spanText } from '../../domain/time.ts'
import { numberText } from '../../domain/words.ts'
import styles from './policies.module.css'

type Props = {
  pattern: string
  policies: Policies
  topics: readonly Topic[]
  said: SaidSettings
  faulty: boolean
  refusal: string | null
  changed: boolean
}

export function Beside({ pattern, policies, topics, said, faulty, refusal, changed }: Props) {
  const sample = sampleTopics(pattern, topics)
  const policy = policyWith(policies, { pattern, said }, sample)
  const waits = waitsOf(policy)
  return (
    <>
      <Section title="Waits that follow" aside={sample.original_topic}>
        <p>{waitWords(policy, waits)}</p>
        {policy.paused || !policy.autoRetry ? null : <Waits waits={waits} />}
      </Section>
      <Section title="What would change">
        {refusal === null && !faulty ? (
          <Preview pattern={pattern} said={said} changed={changed} />
        ) : (
          <p className={styles.quiet}>
            {refusal === null ? 'Known once every field can be read.' : `The preview ${refusal}.`}
          </p>
        )}
      </Section>
    </>
  )
}

function Waits({ waits }: { waits: readonly Wait[] }) {
  const drawn = drawnWaits(waits)
  return (
    <ol className={styles.waits}>
      {drawn.map(({ attempt, fromMs, toMs }) => {
        const x = waitShare(fromMs, drawn) * 100
        const width = Math.max(1, waitShare(toMs, drawn) * 100 - x)
        return (
          <li key={attempt}>
            <span>{attempt}</span>
            <svg viewBox="0 0 101 6" preserveAspectRatio="none" aria-hidden="true">
              <rect y="2.5" width="101" height="1" className={styles.rail} />
              <rect x={x} width={width} height="6" className={styles.band} />
            </svg>
            <span>{fromMs === toMs ? spanText(toMs) : `${spanText(fromMs)} to ${spanText(toMs)}`}</span>
          </li>
        )
      })}
      {waits.length > drawn.length ? <li>and {numberText(waits.length - drawn.length)} more</li> : null}
    </ol>
  )
}

const maxShown = 20

function Preview({ pattern, said, changed }: { pattern: string; said: SaidSettings; changed: boolean }) {
  const preview = useQuery({ ...previewQuery(pattern, said), placeholderData: keepPreviousData })
  if (preview.error !== null) return <QueryFault query={preview} what="The preview cannot be made" />
  if (preview.data === undefined) return <p className={styles.quiet}>Looking …</p>
  const moved = changed ? preview.data.filter(({ changes }) => changes.length > 0) : []
  return (
    <div className={styles.preview}>
      <p role="status">{changed ? changeWords(preview.data) : `Nothing yet. ${matchCount(preview.data)}`}</p>
      <ul>
        {moved.slice(0, maxShown).map((match) => (
          <Change key={`${match.original_topic} ${match.dlq_topic}`} match={match} />
        ))}
      </ul>
      {moved.length > maxShown ? <p className={styles.quiet}>and {numberText(moved.length - maxShown)} more</p> : null}
    </div>
  )
}

function matchCount(matches: readonly PolicyMatch[]): string {
  return matches.length === 1 ? 'One topic matches.' : `${numberText(matches.length)} topics match.`
}

function Change({ match: { original_topic, dlq_topic, pending, changes } }: { match: PolicyMatch }) {
  return (
    <li>
      <strong>{original_topic}</strong>
      <span className={styles.quiet}>
        {dlq_topic === null ? '' : `${dlq_topic} · `}
        {numberText(pending)} waiting
      </span>
      {changes.map(({ setting, before, after }) => (
        <span key={setting}>
          {settingWords[setting].label}: <s>{valueWords(setting, before as SettingValue)}</s>{' '}
          <strong>{valueWords(setting, after as SettingValue)}</strong>
        </span>
      ))}
    </li>
  )
}
