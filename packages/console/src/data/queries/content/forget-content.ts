// What messages hold does not stay in the memory of a tab that nobody looks at.

import type { Query, QueryClient } from '@tanstack/react-query'

const idleMs = 30 * 60_000
/** The first word of the keys of queries whose answers hold keys, values or headers. */
const content = new Set<unknown>(['messages', 'message', 'bytes', 'decoded', 'edits', 'origin', 'unmasked'])
/** So do those of `run`, id, `items`. */
const isContent = ({ queryKey: [first, , part] }: Query) => content.has(first) || (first === 'run' && part === 'items')

type Page = Pick<Document, 'addEventListener' | 'visibilityState'>

/**
 * Once the page has been hidden for half an hour, answers with content are dropped; when somebody looks again, what is
 * on screen is asked for again. `isEditing`: what is being edited stays, or changes would be lost. `onForget` drops what
 * others hold.
 */
export function forgetContentWhenHidden(
  client: QueryClient,
  page: Page,
  { isEditing, onForget }: { isEditing: () => boolean; onForget: () => void },
): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasForgotten = false

  function forget(): void {
    if (isEditing()) return
    hasForgotten = true
    for (const query of client.getQueryCache().findAll({ predicate: isContent })) {
      if (query.isActive()) query.reset()
      else client.getQueryCache().remove(query)
    }
    onForget()
  }

  page.addEventListener('visibilitychange', () => {
    clearTimeout(timer)
    if (page.visibilityState === 'hidden') timer = setTimeout(forget, idleMs)
    else if (hasForgotten) {
      hasForgotten = false
      void client.refetchQueries({ type: 'active', predicate: isContent })
    }
  })
}
