// The runs that are active, one line each, on every page: what goes wrong is stopped from where it was seen.

import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../components/controls/button.tsx'
import { useKeys } from '../components/keys.ts'
import { CancelDialog, RateMenu, runKeys } from '../components/runs/run-controls.tsx'
import { DirectedText } from '../components/show/directed-text.tsx'
import { ChangeFault } from '../components/show/fault.tsx'
import { ProgressBar } from '../components/show/progress.tsx'
import { useGroupTitle } from '../data/queries/groups.ts'
import { useRunControls } from '../data/queries/run-controls.ts'
import type { Run } from '../data/queries/runs.ts'
import { useMissingRole } from '../data/session.ts'
import { groupOfSelection } from '../domain/run-draft.ts'
import { partsOf, progressWords, runTitle, whyNotToggled } from '../domain/runs.ts'
import styles from './run-bar.module.css'

export function RunBar({ runs }: { runs: readonly Run[] }) {
  const { id } = useParams({ strict: false })
  const heard = runs.find((run) => run.id === id) ?? runs[0]
  if (heard === undefined) return null
  // The run of the page that is open comes first.
  const shown = [heard, ...runs.filter((run) => run !== heard)]
  return (
    <aside className={styles.bar} aria-label="Active runs">
      {shown.slice(0, 3).map((run) => (
        <RunLine key={run.id} run={run} withKeys={run === heard} />
      ))}
      {runs.length > 3 ? <Link to="/runs">and {runs.length - 3} more</Link> : null}
    </aside>
  )
}

function RunLine({ run, withKeys }: { run: Run; withKeys: boolean }) {
  const refusal = useMissingRole('sys_operator')
  const [confirming, setConfirming] = useState(false)
  const { paused, isPending, error, toggle, cancel, changeRate } = useRunControls(run)
  const group = useGroupTitle(groupOfSelection(run.selection))
  const ask = () => setConfirming(true)
  const stands = whyNotToggled(run.status)
  useKeys(
    withKeys && refusal === null && run.status !== 'cancelling'
      ? { ...(stands === null ? { [runKeys.pause]: toggle } : {}), [runKeys.cancel]: ask }
      : {},
  )
  const hint = (key: string) => (withKeys ? { hint: key } : {})
  return (
    <div className={styles.line} data-status={run.status}>
      <Link to="/runs/$id" params={{ id: run.id }} className={styles.title}>
        {runTitle(run)}
        {group === null ? null : (
          <bdi className={styles.group}>
            {' '}
            · <DirectedText text={group} />
          </bdi>
        )}
      </Link>
      <ProgressBar parts={partsOf(run)} label={progressWords(run)} small />
      <span className={styles.words}>{progressWords(run)}</span>
      <span className={styles.controls}>
        <Button refusal={refusal ?? stands} isPending={isPending} onPress={toggle} {...hint(runKeys.pause)}>
          {paused ? 'Resume' : 'Pause'}
        </Button>
        <RateMenu run={run} refusal={refusal} onChange={changeRate} shortcut={withKeys ? runKeys.rate : undefined} />
        <Button refusal={refusal} onPress={ask} isDisabled={run.status === 'cancelling'} {...hint(runKeys.cancel)}>
          Cancel
        </Button>
      </span>
      {confirming ? (
        <CancelDialog onCancel={cancel} onClose={() => setConfirming(false)}>
          {runTitle(run)}: {progressWords(run)}. What it has not sent yet stays as it is. What is sent, is sent.
        </CancelDialog>
      ) : null}
      <ChangeFault error={error} />
    </div>
  )
}
