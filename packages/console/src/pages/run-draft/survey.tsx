// The answer of the dry run: how many, where, how old, and what is left alone and why. Each number leads to its messages.

import { Link } from '@tanstack/react-router'
import { Button } from '../../components/controls/button.tsx'
import { Notice } from '../../components/show/page.tsx'
import { useGroupTitles } from '../../data/queries/groups.ts'
import type { ExactSurvey } from '../../data/queries/runs.ts'
import { filterOf, type Search } from '../../domain/addresses.ts'
import { holdsStale } from '../../domain/blast-words.ts'
import { patchWords, readPatch } from '../../domain/payload/patch-from-texts.ts'
import { type Draft, ineligibleWords, meantWords } from '../../domain/run-draft.ts'
import { sends, totalText } from '../../domain/runs.ts'
import { counted, headOf, numberText } from '../../domain/words.ts'
import { Blast } from './blast.tsx'
import styles from './draft.module.css'

type Props = {
  survey: ExactSurvey
  draft: Draft
  patch: string | null
  selection: Search
  onForce: () => void
  onSendStale: () => void
}

const problems = {
  no_json: 'its value is no JSON',
  patch_does_not_fit: 'the change does not fit',
  unchanged: 'it stays as it is',
  not_exact: 'more than the change would differ',
  schema_refuses: 'its schema does not allow it',
  takes_too_long: 'the change takes too long',
}

export function Survey({ survey, draft, patch, selection, onForce, onSendStale }: Props) {
  const { eligible, matched, ineligible, remedies, topics, ages, groups, sample, diff, complete, blast } = survey
  const filter = selection.group === undefined ? filterOf(selection) : { group_id: selection.group }
  const dead = ineligible.dead ?? 0
  const offersForce = dead > 0 && sends(draft.kind) && !draft.force
  return (
    <div className={styles.survey}>
      <p>
        <strong className={styles.large}>{totalText(matched)}</strong> {meantWords(draft)}
        {eligible === matched.value ? '' : `; ${numberText(eligible)} can be taken now`}
      </p>
      {complete ? null : (
        <Notice look="plain">Only the first of them were looked at; the numbers below are lower bounds.</Notice>
      )}
      {Object.keys(ineligible).length === 0 ? null : (
        <ul className={styles.lines}>
          {Object.entries(ineligible).map(([reason, count]) => (
            <li key={reason}>
              <span>Left alone: {ineligibleWords(reason, count)}.</span>
              {remedies[reason] === undefined || (reason === 'dead' && offersForce) ? null : (
                <span className={styles.quiet}>{remedies[reason]}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {offersForce ? (
        <Notice>
          <span>
            {counted(dead, 'message is', 'messages are')} DEAD. Forced, they are sent too; that wants a reason.
          </span>
          <Button onPress={onForce}>Send the DEAD ones too</Button>
        </Notice>
      ) : null}
      {blast !== undefined && holdsStale(blast.targets) && !draft.sendsStale ? (
        <Notice>
          <span>
            The policy holds messages that are older than a newer record of their key, or may be. They are given back,
            and not sent.
          </span>
          <Button onPress={onSendStale}>Send the older ones too</Button>
        </Notice>
      ) : null}
      {draft.sendsStale ? (
        <p className={styles.quiet}>What the policy holds as older than a newer record is sent too.</p>
      ) : null}
      {patch === null ? null : <PatchLines patch={patch} />}
      {diff.length === 0 ? null : <Diffs diff={diff} />}
      <Shares title="By topic" shares={topics} />
      {blast === undefined ? null : <Blast blast={blast} />}
      <Shares title="By age" shares={ages} />
      {Object.keys(groups).length < 2 ? null : <GroupShares groups={groups} />}
      {sample.length === 0 || diff.length > 0 ? null : (
        <details>
          <summary>{counted(sample.length, 'sample')}</summary>
          <ul className={styles.samples}>
            {sample.map((id) => (
              <li key={id}>
                <Link to="/messages/$id" params={{ id }} search={{}}>
                  <code>{id}</code>
                </Link>
              </li>
            ))}
          </ul>
        </details>
      )}
      {Object.keys(filter).length === 0 ? null : (
        <p>
          <Link to="/messages" search={filter}>
            Look at the messages meant
          </Link>
        </p>
      )}
    </div>
  )
}

function GroupShares({ groups }: { groups: Readonly<Record<string, number>> }) {
  const titles = useGroupTitles(Object.keys(groups))
  return (
    <div className={styles.share}>
      <h3>By error group</h3>
      <ul className={styles.lines}>
        {Object.entries(groups).map(([id, count]) => (
          <li key={id}>
            <Link to="/groups/$id" params={{ id }}>
              <bdi>{headOf(titles.get(id) ?? id.slice(0, 8), 120)}</bdi>
            </Link>{' '}
            <strong>{numberText(count)}</strong>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Shares({ title, shares }: { title: string; shares: Readonly<Record<string, number>> }) {
  const entries = Object.entries(shares)
  if (entries.length === 0) return null
  return (
    <div className={styles.share}>
      <h3>{title}</h3>
      <ul className={styles.lines}>
        {entries.map(([name, count]) => (
          <li key={name}>
            {name} <strong>{numberText(count)}</strong>
          </li>
        ))}
      </ul>
    </div>
  )
}

function PatchLines({ patch }: { patch: string }) {
  const lines = readPatch(patch)
  return (
    <div className={styles.share}>
      <h3>The change</h3>
      {lines === null ? <p>The link was cut: its change cannot be read.</p> : null}
      <ul className={styles.samples}>
        {lines?.map((line, place) => (
          <li key={`${place} ${line.path}`}>
            <code>{patchWords(line)}</code>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Diffs({ diff }: { diff: ExactSurvey['diff'] }) {
  const sorted = diff.toSorted((a, b) => Number(b.problem !== null) - Number(a.problem !== null))
  const bad = sorted.filter(({ problem }) => problem !== null).length
  return (
    <details className={styles.share} open>
      <summary>
        {counted(sorted.length, 'message')} before and after{bad === 0 ? '' : `, ${numberText(bad)} with a problem`}
      </summary>
      {sorted.some(({ before, after }) => `${before}${after}`.includes('•••')) ? (
        <p className={styles.quiet}>
          Where a mask hides a place from you, ••• stands there; the change leaves it whole.
        </p>
      ) : null}
      <ul className={styles.diffs}>
        {sorted.map(({ id, before, after, omitted, problem }) => (
          <li key={id}>
            <Link to="/messages/$id" params={{ id }} search={{}}>
              <code>{id.slice(-12)}</code>
            </Link>
            {problem === null ? null : <span className={styles.problem}>{problems[problem]}</span>}
            {omitted ? (
              'too long to show here: open the message'
            ) : (
              <>
                <code className={styles.before}>{before}</code>
                {problem === null ? <code className={styles.after}>{after}</code> : null}
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}
