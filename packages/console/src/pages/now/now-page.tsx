// What burns, what runs, what is about to be lost.

import { useQuery } from '@tanstack/react-query'
import { PageHead, Verdict } from '../../components/show/page.tsx'
import { useLive } from '../../data/live.ts'
import { statusQuery } from '../../data/queries/status.ts'
import { counted } from '../../domain/words.ts'

export function NowPage() {
  const { data: status } = useQuery({ ...statusQuery, refetchInterval: useLive(5000) })
  return (
    <PageHead title="Now">
      {status === undefined ? null : (
        <Verdict>
          {counted(status.counts.DEAD, 'message is', 'messages are')} DEAD and{' '}
          {counted(status.counts.PENDING, 'waits', 'wait')}.
        </Verdict>
      )}
    </PageHead>
  )
}
