// What can be taken from a list: files of it, and links to it.

import { Button } from '../../components/controls/button.tsx'
import { Menu } from '../../components/controls/menu.tsx'
import { useKeys } from '../../components/keys.ts'
import { copyText } from '../../components/toasts.tsx'
import { serverNow } from '../../data/server-clock.ts'
import { addressWith, filterOf, pinnedSearch, printSearch, requestFilter, type Search } from '../../domain/addresses.ts'
import { ExportMenu } from './export-menu.tsx'

export function TakeAway({ search }: { search: Search }) {
  const now = () => new Date(serverNow())
  const copy = (query: string, what: string) => void copyText(addressWith(window.location.href, query), what)
  const copyPinned = () => copy(printSearch(pinnedSearch(search, now())), 'the link')
  const isLive = printSearch(pinnedSearch(search, now())) !== printSearch(search)
  useKeys({ 'Shift+y': copyPinned })
  return (
    <>
      <ExportMenu filter={requestFilter(filterOf(search), now())} />
      {isLive ? (
        <Menu
          label="Copy link"
          choices={[
            { id: 'pinned', text: 'Copy link', note: 'with the times as they are now: the same list later' },
            { id: 'live', text: 'Copy live link', note: 'with times that go on, such as -24h' },
          ]}
          onChoose={(id) => (id === 'live' ? copy(printSearch(search), 'the live link') : copyPinned())}
        />
      ) : (
        <Button onPress={copyPinned} hint="Shift+y">
          Copy link
        </Button>
      )}
    </>
  )
}
