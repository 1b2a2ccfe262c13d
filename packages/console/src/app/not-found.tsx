// No page has this address: what was looked for, and where to look for it.

import { Link, useRouterState } from '@tanstack/react-router'
import { PageHead, Verdict } from '../components/show/page.tsx'
import { soughtKind } from '../domain/commands/sought-kind.ts'

export function NotFound() {
  const kind = soughtKind(useRouterState({ select: ({ location }) => location.pathname }))
  return (
    <PageHead title="No such page">
      <Verdict>
        {kind === null
          ? 'The console has no page at this address.'
          : `This looks like the address of ${kind}, and there is no such page.`}{' '}
        The search above takes ids, keys and text of errors; <Link to="/">Now</Link> shows what burns.
      </Verdict>
    </PageHead>
  )
}
