// The runs that are active, one line each, on every page: what goes wrong is stopped from where it was seen.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../components/controls/button.tsx'
import { Dialog, DialogActions } from '../components/controls/dialog.tsx'
import { Menu } from '../components/controls/menu.tsx'
import { FaultText } from '../components/show/fault.tsx'
import { ProgressBar } from '../components/show/progress.tsx'
import { faultOf } from '../data/faults.ts'
import { actOnRun, changeRunRate, type Run, type RunAction } from '../data/queries/runs.ts'
import { useMissingRole } from '../data/session.ts'
import { partsOf, progressWords, rateChoices, rateText, runTitle } from '../domain/runs.ts'
import styles from './run-bar.module.css'

export function RunBar({ runs }: { runs: readonly Run[] }) {
  if (runs.length === 0) return null
  return (
    <aside className={styles.bar} aria-label="Active runs">
      {runs.slice(0, 3).map((run) => (
        <RunLine key={run.id} run={run} />
      ))}
      {runs.length > 3 ? <Link to="/runs">and {runs.length - 3} more</Link> : null}
    </aside>
  )
}

function RunLine({ run }: { run: Run }) {
  const client = useQueryClient()
  const refusal = useMissingRole('sys_operator')
  const [confirming, setConfirming] = useState(false)
  const settled = async () => {
    await client.invalidateQueries({ queryKey: ['runs'] })
    await client.invalidateQueries({ queryKey: ['run', run.id] })
  }
  const act = useMutation({ mutationFn: (action: RunAction) => actOnRun(run.id, action), onSettled: settled })
  const rate = useMutation({ mutationFn: (value: number | null) => changeRunRate(run.id, value), onSettled: settled })
  const paused = run.status === 'paused'
  const fault = act.error ?? rate.error
  return (
    <div className={styles.line} data-status={run.status}>
      <Link to="/runs/$id" params={{ id: run.id }} className={styles.title}>
        {runTitle(run)}
      </Link>
      <ProgressBar parts={partsOf(run)} label={progressWords(run)} small />
      <span className={styles.words}>{progressWords(run)}</span>
      <Button
        refusal={refusal}
        isPending={act.isPending}
        onPress={() => act.mutate(paused ? 'resume' : 'pause')}
        isDisabled={run.status === 'cancelling'}
      >
        {paused ? 'Resume' : 'Pause'}
      </Button>
      <Menu
        label={`Rate: ${rateText(run.rate_per_second)}`}
        refusal={refusal}
        choices={rateChoices.map(({ id, text }) => ({ id, text }))}
        onChoose={(id) => rate.mutate(rateChoices.find((choice) => choice.id === id)!.value)}
      />
      <Button refusal={refusal} onPress={() => setConfirming(true)} isDisabled={run.status === 'cancelling'}>
        Cancel
      </Button>
      {confirming ? (
        <Dialog title="Cancel this run?" onClose={() => setConfirming(false)}>
          <p>
            {runTitle(run)}: {progressWords(run)}. What it has not sent yet stays as it is. What is sent, is sent.
          </p>
          <DialogActions>
            <Button onPress={() => setConfirming(false)}>Go on with it</Button>
            <Button
              look="danger"
              autoFocus
              onPress={() => {
                setConfirming(false)
                act.mutate('cancel')
              }}
            >
              Cancel the run
            </Button>
          </DialogActions>
        </Dialog>
      ) : null}
      {fault === null ? null : <FaultText fault={faultOf(fault)} />}
    </div>
  )
}
