// Saves a change of a message, and then sends the message where that was asked for.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { dropEdit } from '../../data/drafts/edit-drafts.ts'
import { keepReason } from '../../data/drafts/run-drafts.ts'
import { useUnmask } from '../../data/queries/content/masked.ts'
import { changeMessage, retryMessage } from '../../data/queries/messages.ts'
import { readingAgain } from '../../data/query-client.ts'
import type { editRequest } from '../../domain/payload/edit-draft.ts'

type Change = {
  id: string
  etag: string | null
  /** A plain retry of it would be refused. */
  force: boolean
  reason: string
  request: ReturnType<typeof editRequest>
}

/** `reencode`: it may be written in other bytes that hold the same. */
type SaveOptions = { send: boolean; reencode?: boolean }

export function useSave({ id, etag, force, reason, request }: Change) {
  const unmask = useUnmask(id)
  const [answered, setAnswered] = useState(false)
  const settled = readingAgain(useQueryClient(), [['message', id]])
  // A question of its own: what is saved stays saved, whatever becomes of it.
  const sending = useMutation({
    mutationFn: (newTag: string | null) =>
      retryMessage(id, { force, reason: reason || 'changed and sent again', etag: newTag }),
    onSettled: (data, error) => {
      setAnswered(true)
      return settled(data, error)
    },
  })
  const save = useMutation({
    mutationFn: async ({ send, reencode = false }: SaveOptions) => {
      const asked = { ...(reencode ? { reencode } : {}), ...(reason === '' ? {} : { reason }) }
      const newTag = await changeMessage(id, { ...request, ...asked }, { etag, unmask })
      dropEdit(id)
      keepReason(reason)
      if (send) sending.mutate(newTag)
    },
    onSettled: settled,
  })
  return {
    save,
    sending,
    isBusy: save.isPending || sending.isPending,
    /** Both have an answer, as far as they were asked for. */
    isDone: save.isSuccess && (answered || !save.variables.send),
  }
}
