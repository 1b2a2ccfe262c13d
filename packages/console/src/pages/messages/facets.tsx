// Which values the messages of the list have. Each narrows the list to it; counted over the newest of them only.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { type FacetName, facetNames, facetsQuery } from '../../data/queries/activity.ts'
import type { FilterName, MessageFilter } from '../../domain/addresses.ts'
import { namedSteering } from '../../domain/payload/directions.ts'
import { middleCut, numberText, shortClass } from '../../domain/words.ts'
import styles from './activity.module.css'

const titles: Record<FacetName, { title: string; filter: FilterName }> = {
  status: { title: 'State', filter: 'status' },
  original_topic: { title: 'Topic', filter: 'topic' },
  consumer_group: { title: 'Consumer group', filter: 'consumer_group' },
  error_class: { title: 'Error', filter: 'error_class' },
  partition: { title: 'Partition', filter: 'partition' },
}
const mostValues = 6

type Props = { filter: MessageFilter; onNarrow: (added: MessageFilter) => void }

export function Facets({ filter, onNarrow }: Props) {
  const [open, setOpen] = useState(false)
  const facets = useQuery({ ...facetsQuery(filter), enabled: open })
  const { data } = facets
  return (
    <details className={styles.facets} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Narrow down</summary>
      <QueryFault query={facets} what="They cannot be counted" />
      {data === undefined ? null : (
        <>
          <div className={styles.columns} data-dim={facets.isPlaceholderData}>
            {facetNames.map((name) => (
              <Values key={name} name={name} values={data.facets[name] ?? []} onNarrow={onNarrow} />
            ))}
          </div>
          {data.complete ? null : (
            <p className={styles.quiet}>Counted among the newest {numberText(data.examined)} that were looked at.</p>
          )}
        </>
      )}
    </details>
  )
}

type ValuesProps = {
  name: FacetName
  values: readonly { value: string | null; count: number }[]
  onNarrow: (added: MessageFilter) => void
}

function Values({ name, values, onNarrow }: ValuesProps) {
  const { title, filter } = titles[name]
  if (values.length === 0) return null
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {values.slice(0, mostValues).map(({ value, count }) => (
          <li key={value}>
            {value === null ? (
              <span className={styles.none}>not known</span>
            ) : (
              <Button look="quiet" onPress={() => onNarrow({ [filter]: value })}>
                <span title={namedSteering(value)}>
                  <DirectedText text={middleCut(name === 'error_class' ? shortClass(value) : value, 32)} />
                </span>
              </Button>
            )}
            <data value={count}>{numberText(count)}</data>
          </li>
        ))}
      </ul>
      {values.length > mostValues ? <p className={styles.quiet}>and {values.length - mostValues} more</p> : null}
    </section>
  )
}
