// What an operator does with a run that is active, on its page and in the bar of every page.

import type { ReactNode } from 'react'
import type { Run } from '../../data/queries/runs.ts'
import { rateChoices, rateText, sends } from '../../domain/runs.ts'
import { Button } from '../controls/button.tsx'
import { Dialog, DialogActions } from '../controls/dialog.tsx'
import { Menu } from '../controls/menu.tsx'
import { useKeys } from '../keys.ts'

/** On every page the same, for the run on the page or else the first that is active. Shown where they are heard. */
export const runKeys = { pause: 'Shift+p', rate: 'Shift+r', cancel: 'Shift+c' } as const

type RateMenuProps = {
  run: Run
  refusal: string | null
  onChange: (rate: number | null) => void
  shortcut?: string | undefined
}

/** Nothing for a run that sends nothing. */
export function RateMenu({ run, refusal, onChange, shortcut }: RateMenuProps) {
  if (!sends(run.kind)) return null
  return (
    <Menu
      label={`Rate: ${rateText(run.rate_per_second)}`}
      refusal={refusal ?? (run.status === 'cancelling' ? 'the run is being cancelled' : null)}
      shortcut={shortcut}
      choices={rateChoices.map(({ id, text }) => ({ id, text }))}
      onChoose={(id) => onChange(rateChoices.find((choice) => choice.id === id)!.value)}
    />
  )
}

type CancelDialogProps = { onCancel: () => void; onClose: () => void; children: ReactNode }

/** Asks before a run is cancelled. `children`: what it has done, and what stays as it is. */
export function CancelDialog({ onCancel, onClose, children }: CancelDialogProps) {
  const go = () => {
    onClose()
    onCancel()
  }
  useKeys({ 'Mod+Enter': go }, 'dialog')
  return (
    <Dialog title="Cancel this run?" onClose={onClose}>
      <p>{children}</p>
      <DialogActions>
        <Button onPress={onClose}>Go on with it</Button>
        <Button look="danger" autoFocus onPress={go} hint="Mod+Enter">
          Cancel the run
        </Button>
      </DialogActions>
    </Dialog>
  )
}
