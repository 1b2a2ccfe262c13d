// Where it waits: by topic and consumer group. Folded, because the groups above say what it is.

import { Link } from '@tanstack/react-router'
import { StatusCount } from '../../components/show/status.tsx'
import { Time } from '../../components/show/time.tsx'
import type { Status } from '../../data/queries/status.ts'
import styles from './now.module.css'

export function TopicTable({ topics }: { topics: Status['topics'] }) {
  const open = topics.filter(({ counts }) => counts.DEAD + counts.PENDING + counts.RETRYING > 0)
  if (open.length === 0) return null
  return (
    <details className={styles.topics}>
      <summary>By topic and consumer group</summary>
      <table aria-label="By topic and consumer group">
        <thead>
          <tr>
            <th scope="col">Topic</th>
            <th scope="col">Consumer group</th>
            <th scope="col">DEAD</th>
            <th scope="col">Waiting</th>
            <th scope="col">Oldest waiting</th>
          </tr>
        </thead>
        <tbody>
          {open.map(({ original_topic, consumer_group, counts, oldest_pending_at }) => {
            const search = { topic: original_topic, ...(consumer_group === null ? {} : { consumer_group }) }
            return (
              <tr key={`${original_topic} ${consumer_group}`}>
                <td>
                  <Link to="/messages" search={search}>
                    {original_topic}
                  </Link>
                </td>
                <td>{consumer_group ?? 'not known'}</td>
                <td>
                  <Link to="/messages" search={{ ...search, status: 'DEAD' }}>
                    <StatusCount status="DEAD" count={counts.DEAD} />
                  </Link>
                </td>
                <td>
                  <Link to="/messages" search={{ ...search, status: 'PENDING,RETRYING' }}>
                    <StatusCount status="PENDING" count={counts.PENDING + counts.RETRYING} />
                  </Link>
                </td>
                <td>
                  <Time at={oldest_pending_at} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </details>
  )
}
