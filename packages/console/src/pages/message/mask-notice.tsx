// What masks hide of a message, and the way to see it: with a reason, and recorded.

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { lazyPart } from '../../components/lazy-part.tsx'
import { Notice } from '../../components/show/page.tsx'
import { hideAgain, useUnmask } from '../../data/queries/content/masked.ts'
import type { MessageDetail } from '../../data/queries/messages.ts'
import { useMissingUnmask } from '../../data/session.ts'
import { hiddenWords } from '../../domain/payload/hidden-parts.ts'

const UnmaskDialog = lazyPart(() => import('./unmask-dialog.tsx').then(({ UnmaskDialog }) => UnmaskDialog))

export function MaskNotice({ message }: { message: MessageDetail }) {
  const client = useQueryClient()
  const refusal = useMissingUnmask()
  const [asking, setAsking] = useState(false)
  const unmask = useUnmask(message.id)
  const words = hiddenWords(message.hidden)
  if (words === null)
    return unmask === null ? null : (
      <Notice>
        <span>Shown without masks: “{unmask.reason}”. Who read it, when and why is recorded.</span>
        <Button onPress={() => hideAgain(client, message.id)}>Hide it again</Button>
      </Notice>
    )
  return (
    <>
      <Notice look="plain">
        <span>Masks hide from you: {words}. ••• stands for what is hidden; the message itself is whole.</span>
        <Button refusal={refusal} onPress={() => setAsking(true)}>
          Show what is hidden…
        </Button>
      </Notice>
      {asking ? <UnmaskDialog message={message} onClose={() => setAsking(false)} /> : null}
    </>
  )
}
