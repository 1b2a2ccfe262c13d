// The open error groups, the hottest first.

import { GroupLine } from '../../components/groups/group-line.tsx'
import { Mark } from '../../components/show/mark.tsx'
import type { ErrorGroup } from '../../data/queries/groups.ts'
import { type Heat, heatMeaning } from '../../domain/groups/heat.ts'
import { counted } from '../../domain/words.ts'
import styles from './now.module.css'

type Row = { group: ErrorGroup; heat: Heat }

export function BurningList({ rows, more }: { rows: readonly Row[]; more: number }) {
  return (
    <>
      <ul className={styles.burning}>
        {rows.map(({ group, heat }) => (
          <li key={group.id}>
            <GroupLine group={group} marks={{ before: <HeatMark heat={heat} /> }} />
          </li>
        ))}
      </ul>
      {more > 0 ? <p className={styles.quiet}>and {counted(more, 'quieter group')}</p> : null}
    </>
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
