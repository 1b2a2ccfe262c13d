// What is asked before one message is changed: a reason, or when it is tried and how often.

import { useState } from 'react'
import { Form } from 'react-aria-components'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button } from '../../components/controls/button.tsx'
import { Dialog, DialogActions } from '../../components/controls/dialog.tsx'
import { Choices } from '../../components/controls/select.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { useNow } from '../../data/live.ts'
import type { MessageAction, MessageDetail } from '../../data/queries/messages.ts'
import { serverNow } from '../../data/server-clock.ts'
import { settings } from '../../data/settings.ts'
import { useStore } from '../../data/store.ts'
import { whatNext } from '../../domain/message-words.ts'
import { type ScheduleChoice, scheduleChoices, scheduleFault, scheduleRequest } from '../../domain/schedule.ts'
import { zoneWords } from '../../domain/time.ts'

export type Ask = MessageAction | 'force'

const asks: Record<Ask, { title: string; text: string; button: string }> = {
  // Behind what the page says of the message: why a plain retry is refused.
  force: { title: 'Send it all the same?', text: 'Forced, it gets one more attempt.', button: 'Send it' },
  dead: {
    title: 'Give this message up?',
    text: 'It is not tried again by itself. It can be revived.',
    button: 'Give up',
  },
  revive: { title: 'Revive this message?', text: 'It becomes PENDING and is tried again by policy.', button: 'Revive' },
  archive: {
    title: 'Archive this message?',
    text: 'It leaves the lists and the counts, and stays in the archive until its retention ends. It can be restored.',
    button: 'Archive',
  },
  restore: {
    title: 'Restore this message?',
    text: 'It comes back out of the archive, as it was.',
    button: 'Restore',
  },
  delete: { title: 'Delete this message?', text: 'It is gone for good. Nothing brings it back.', button: 'Delete' },
}

type AskProps = { ask: Ask; message: MessageDetail; onClose: () => void; onGo: (reason: string) => void }

export function AskReason({ ask, message, onClose, onGo }: AskProps) {
  const { title, text, button } = asks[ask]
  const now = useNow()
  return (
    <AskDialog
      title={title}
      verb={button}
      danger={ask === 'delete'}
      reason={ask === 'force' || ask === 'delete' ? 'needed' : 'offered'}
      // The answer stands beside the buttons of the message.
      isPending={false}
      error={null}
      onClose={onClose}
      onGo={onGo}
    >
      <p>
        <DirectedText text={ask === 'force' ? `${whatNext(message, now)} ${text}` : text} />
      </p>
    </AskDialog>
  )
}

type ScheduleProps = {
  message: Pick<MessageDetail, 'max_retries' | 'retry_count'>
  onClose: () => void
  onGo: (change: ReturnType<typeof scheduleRequest>) => void
}

/** When it is tried by itself, and how often at most. */
export function ScheduleDialog({ message, onClose, onGo }: ScheduleProps) {
  const { zone } = useStore(settings)
  const [choice, setChoice] = useState<ScheduleChoice>('hour')
  const [at, setAt] = useState('')
  const [tries, setTries] = useState(String(message.max_retries))
  const [reason, setReason] = useState('')
  const [asked, setAsked] = useState(false)
  const faults = scheduleFault({ choice, at, tries })
  const go = () => {
    setAsked(true)
    if (faults.at === null && faults.tries === null)
      onGo(scheduleRequest({ choice, at, tries, before: message, reason }, { now: new Date(serverNow()), zone }))
  }
  useKeys({ 'Mod+Enter': go }, 'dialog')
  return (
    <Dialog title="When is it tried?" onClose={onClose}>
      <Form
        onSubmit={(event) => {
          event.preventDefault()
          go()
        }}
      >
        <Choices label="Next attempt" value={choice} choices={scheduleChoices} onChange={setChoice} />
        {choice === 'at' ? (
          <TextField
            label={`At, in ${zoneWords(zone)}`}
            type="datetime-local"
            value={at}
            onChange={setAt}
            fault={asked ? faults.at : null}
          />
        ) : null}
        <TextField
          label={`Attempts at most; ${message.retry_count} were made`}
          value={tries}
          onChange={setTries}
          fault={asked ? faults.tries : null}
        />
        <TextField label="Reason (not needed)" value={reason} onChange={setReason} />
        <DialogActions>
          <Button onPress={onClose}>Leave it</Button>
          <Button type="submit" look="primary" hint="Mod+Enter">
            Schedule
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
