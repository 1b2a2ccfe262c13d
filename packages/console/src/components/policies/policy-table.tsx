// The policy in force for a topic, setting by setting, with where each comes from and a way to change it.

import { Link } from '@tanstack/react-router'
import type { SettingName } from 'dlq-core/domain/retry/policy-settings.ts'
import { type SettingValue, settingGroups, settingWords, valueWords } from '../../domain/policies/setting-words.ts'
import { sourceWords } from '../../domain/topics/topic-verdict.ts'
import styles from './policy-table.module.css'

type Said = {
  readonly value: SettingValue
  readonly source: 'default' | 'config' | 'policy'
  readonly pattern: string | null
}

type Props = {
  policy: Readonly<Record<string, Said>>
  /** The pattern that *Change* writes to: the topic's own name. */
  own: string
  mayChange: boolean
}

export function PolicyTable({ policy, own, mayChange }: Props) {
  return (
    <div className={styles.groups}>
      {settingGroups.map(({ title, settings }) => (
        <div key={title}>
          <h3>{title}</h3>
          <dl>
            {settings.map((name) => {
              const said = policy[name]
              return said === undefined ? null : (
                <Setting key={name} name={name} said={said} own={own} mayChange={mayChange} />
              )
            })}
          </dl>
        </div>
      ))}
    </div>
  )
}

function Setting({ name, said, own, mayChange }: { name: SettingName; said: Said; own: string; mayChange: boolean }) {
  const { label } = settingWords[name]
  return (
    <div data-said={said.source !== 'default'}>
      <dt>{label}</dt>
      <dd>
        <span>{valueWords(name, said.value)}</span>
        <span className={styles.source}>
          {said.source === 'policy' && said.pattern !== null ? (
            <Link to="/policies/$pattern" params={{ pattern: said.pattern }}>
              {said.pattern}
            </Link>
          ) : (
            sourceWords(said)
          )}
        </span>
        {mayChange ? (
          <Link
            to="/policies/$pattern/edit"
            params={{ pattern: own }}
            search={{ setting: name }}
            className={styles.change}
            aria-label={`Change: ${label}`}
          >
            Change
          </Link>
        ) : null}
      </dd>
    </div>
  )
}
