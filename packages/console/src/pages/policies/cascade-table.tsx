// The cascade of one topic: a row for each setting, a column for each layer. The cell that decides is outlined, and what it
// overrides is struck.

import { Link } from '@tanstack/react-router'
import type { Policies } from '../../data/queries/policies.ts'
import { cascadeOf } from '../../domain/policies/cascade.ts'
import { settingGroups, settingWords, valueWords } from '../../domain/policies/setting-words.ts'
import styles from './policies.module.css'

type Props = { policies: Policies; topic: string; dlqTopic: string | null }

export function CascadeTable({ policies, topic, dlqTopic }: Props) {
  const { columns, rows } = cascadeOf(policies, { original_topic: topic, dlq_topic: dlqTopic })
  const rowOf = new Map(rows.map((row) => [row.setting, row]))
  return (
    // A wide table moves by itself, and the keyboard must reach it to move it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={styles.scroll} aria-label={`What decides for ${topic}`} tabIndex={0}>
      <table className={styles.cascade} aria-label="Policy in force">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            {columns.map(({ source, pattern }) => (
              <th key={`${source} ${pattern}`} scope="col">
                {source === 'policy' && pattern !== null ? (
                  <Link to="/policies/$pattern" params={{ pattern }}>
                    {pattern}
                  </Link>
                ) : source === 'config' ? (
                  `configuration${pattern === null ? '' : `: ${pattern}`}`
                ) : (
                  'default'
                )}
              </th>
            ))}
            <th scope="col">In force</th>
          </tr>
        </thead>
        {settingGroups.map(({ title, settings }) => (
          <tbody key={title}>
            <tr>
              <th scope="rowgroup" colSpan={columns.length + 2} className={styles.group}>
                {title}
              </th>
            </tr>
            {settings.map((setting) => {
              const row = rowOf.get(setting)!
              return (
                <tr key={setting}>
                  <th scope="row">{settingWords[setting].label}</th>
                  {columns.map(({ source, pattern }, index) => {
                    const value = row.values[index]
                    return (
                      <td key={`${source} ${pattern}`} data-decides={index === row.decides}>
                        {value === undefined ? (
                          ''
                        ) : index === row.decides ? (
                          <strong>{valueWords(setting, value)}</strong>
                        ) : (
                          <s>{valueWords(setting, value)}</s>
                        )}
                      </td>
                    )
                  })}
                  <td className={styles.force}>{valueWords(setting, row.values[row.decides])}</td>
                </tr>
              )
            })}
          </tbody>
        ))}
      </table>
    </section>
  )
}
