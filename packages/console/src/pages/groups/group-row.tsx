// One group of the inbox.

import { GroupLine } from '../../components/groups/group-line.tsx'
import { Mark } from '../../components/show/mark.tsx'
import type { ErrorGroup } from '../../data/queries/groups.ts'

export function GroupRow({ group, current, onFocus }: { group: ErrorGroup; current: boolean; onFocus: () => void }) {
  return (
    <li>
      <GroupLine
        group={group}
        marks={{ after: group.state === 'open' ? null : <Mark>{group.state}</Mark> }}
        withResolved
        row={{ current, onFocus }}
      />
    </li>
  )
}
