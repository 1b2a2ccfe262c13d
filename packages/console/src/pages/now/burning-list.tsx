// The open error groups, the hottest first.

import { GroupLine } from '../../components/groups/group-line.tsx'
import { Mark } from '../../components/show/mark.tsx'
import type { ErrorGroup } from '../../data/queries/groups.ts'
import { type Heat, heatMeaning } from '../../domain/groups/heat.ts'
import styles from './now.module.css'

type Row = { group: ErrorGroup; heat: Heat }

export function BurningList({ rows }: { rows: readonly Row[] }) {
  return (
    <ul className={styles.burning}>
      {rows.map(({ group, heat }) => (
        <li key={group.id}>
          <GroupLine group={group} marks={{ before: <HeatMark heat={heat} /> }} />
        </li>
      ))}
    </ul>
  )
}

function HeatMark({ heat }: { heat: Heat }) {
  if (heat === 'steady') return null
  return (
    <Mark look={heat === 'quiet' ? 'plain' : heat === 'new' ? 'warm' : 'hot'} title={heatMeaning[heat]}>
      {heat.includes('rising') ? '▲ ' : ''}
      {heat}
    </Mark>
  )
}
