// Why automatic retries of a group are paused, when they are probed, and the way to let them go on at once.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button } from '../../components/controls/button.tsx'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { Notice } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { say } from '../../components/toasts.tsx'
import { type ErrorGroup, resumeGroup } from '../../data/queries/groups.ts'
import { useMissingRole } from '../../data/session.ts'

export function GroupPauses({ group: { id, pauses } }: { group: Pick<ErrorGroup, 'id' | 'pauses'> }) {
  const refusal = useMissingRole('sys_operator')
  const [asked, setAsked] = useState<string | null>(null)
  return (
    <>
      {pauses.map(({ original_topic: topic, reason, since, next_probe_at }) => (
        <Notice key={topic}>
          <span>
            Automatic retries to {topic} are paused since <Time at={since} long />: <DirectedText text={reason} />.{' '}
            {next_probe_at === null ? (
              'Some are tried now.'
            ) : (
              <>
                Some are tried <Time at={next_probe_at} />.
              </>
            )}
          </span>
          <Button refusal={refusal} label={`Resume retries to ${topic}…`} onPress={() => setAsked(topic)}>
            Resume retries…
          </Button>
        </Notice>
      ))}
      {asked === null ? null : <ResumeGroupDialog id={id} topic={asked} onClose={() => setAsked(null)} />}
    </>
  )
}

function ResumeGroupDialog({ id, topic, onClose }: { id: string; topic: string; onClose: () => void }) {
  const client = useQueryClient()
  const resume = useMutation({
    mutationFn: (reason: string) => resumeGroup(id, topic, reason),
    onSuccess: async () => {
      onClose()
      say(`Resumed: automatic retries of this group to ${topic}`)
      await Promise.all(
        ['group', 'groups', 'message', 'status', 'audit'].map((name) => client.invalidateQueries({ queryKey: [name] })),
      )
    },
  })
  return (
    <AskDialog
      title={`Resume automatic retries to ${topic}?`}
      verb="Resume retries"
      reason="offered"
      isPending={resume.isPending}
      error={resume.error}
      onClose={onClose}
      onGo={(reason) => resume.mutate(reason)}
    >
      <p>
        Its messages are retried at their own times again, without waiting for a trial. What came back before does not
        count for another pause.
      </p>
    </AskDialog>
  )
}
