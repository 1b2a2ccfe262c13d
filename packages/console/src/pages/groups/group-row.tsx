// One group of the inbox, with what one key does to it as buttons, for hands without keys.

import { Button } from '../../components/controls/button.tsx'
import { GroupLine } from '../../components/groups/group-line.tsx'
import { Mark } from '../../components/show/mark.tsx'
import type { ErrorGroup } from '../../data/queries/groups.ts'
import type { TriageAct } from '../group/use-triage.tsx'
import styles from './groups.module.css'

type Props = {
  group: ErrorGroup
  current: boolean
  onFocus: () => void
  refusal: string | null
  onTriage: (act: TriageAct) => void
}

const acts: readonly { id: TriageAct; text: string }[] = [
  { id: 'mine', text: 'Mine' },
  { id: 'snooze', text: 'Snooze 1 h' },
  { id: 'ignore', text: 'Ignore' },
  { id: 'done', text: 'Done' },
]

export function GroupRow({ group, current, onFocus, refusal, onTriage }: Props) {
  return (
    <li className={styles.item}>
      <GroupLine
        group={group}
        marks={{ after: group.state === 'open' ? null : <Mark>{group.state}</Mark> }}
        withResolved
        row={{ current, onFocus }}
      />
      {refusal !== null ? null : (
        <fieldset className={styles.triage} aria-label={`Triage of ${group.title}`}>
          {acts.map(({ id, text }) => (
            <Button key={id} excludeFromTabOrder onPress={() => onTriage(id)}>
              {text}
            </Button>
          ))}
        </fieldset>
      )}
    </li>
  )
}
