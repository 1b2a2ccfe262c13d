// A question before something is done: one sentence of consequence, a reason for the audit, and where it matters the name
// or the number typed out. ⌘↵ answers it.

import { type ReactNode, useState } from 'react'
import { Form } from 'react-aria-components'
import { keepReason, lastReasons } from '../../data/drafts/run-drafts.ts'
import { useKeys } from '../keys.ts'
import { ChangeFault } from '../show/fault.tsx'
import { Button } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { TextField } from './text-field.tsx'

type Props = {
  title: string
  /** What follows from it. */
  children?: ReactNode
  /** What the button says. */
  verb: string
  danger?: boolean
  reason: 'needed' | 'offered'
  /** What has the focus at the beginning is among the children. */
  focusWithin?: boolean
  /** Must be typed as it stands here. */
  typed?: string | null
  isPending: boolean
  /** Null unless what was asked for failed. */
  error: unknown
  /** Why it cannot be done as it stands. */
  refusal?: string | null
  onGo: (reason: string) => void
  onClose: () => void
}

export function AskDialog(props: Props) {
  const { title, children, verb, danger = false, typed = null, isPending, error, refusal = null } = props
  const focusReason = typed === null && props.focusWithin !== true
  const [reason, setReason] = useState('')
  const [answer, setAnswer] = useState('')
  const [tried, setTried] = useState(false)
  const missing = props.reason === 'needed' && reason.trim() === ''
  const wrong = typed !== null && answer.trim() !== typed
  const go = () => {
    setTried(true)
    if (missing || wrong || isPending || refusal !== null) return
    keepReason(reason.trim())
    props.onGo(reason.trim())
  }
  useKeys({ 'Mod+Enter': go }, 'dialog')
  return (
    <Dialog title={title} onClose={props.onClose}>
      {children}
      <Form
        onSubmit={(event) => {
          event.preventDefault()
          go()
        }}
      >
        {typed === null ? null : (
          <TextField
            label={`Type ${typed} to confirm`}
            value={answer}
            onChange={setAnswer}
            mono
            autoFocus
            fault={tried && wrong ? `This is not ${typed}.` : null}
          />
        )}
        <TextField
          label={props.reason === 'needed' ? 'Reason' : 'Reason (not needed)'}
          value={reason}
          onChange={setReason}
          autoFocus={focusReason}
          list={lastReasons()}
          fault={tried && missing ? 'Say why: the audit keeps it.' : null}
        />
        <ChangeFault error={error} />
        <DialogActions>
          <Button onPress={props.onClose}>Leave it</Button>
          <Button
            type="submit"
            look={danger ? 'danger' : 'primary'}
            isPending={isPending}
            refusal={refusal}
            hint="Mod+Enter"
          >
            {isPending ? 'Asking …' : verb}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
