// Asks why somebody wants to see what masks hide; loaded when it is asked for.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { showUnmasked } from '../../data/queries/content/masked.ts'
import type { MessageDetail } from '../../data/queries/messages.ts'

export function UnmaskDialog({ message, onClose }: { message: MessageDetail; onClose: () => void }) {
  const client = useQueryClient()
  const show = useMutation({
    mutationFn: (reason: string) => showUnmasked(client, message, reason),
    onSuccess: onClose,
  })
  return (
    <AskDialog
      title="Show what is hidden?"
      verb="Show it"
      reason="needed"
      isPending={show.isPending}
      error={show.error}
      onClose={onClose}
      onGo={(reason) => show.mutate(reason)}
    >
      <p>It is recorded that you have read this message, when, and why.</p>
    </AskDialog>
  )
}
