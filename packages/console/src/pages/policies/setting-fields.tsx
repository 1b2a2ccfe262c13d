// The settings of a policy in six groups. Empty: not said here, and the grey text is what a weaker layer says.

import type { SettingName } from 'dlq-core/domain/retry/policy-settings.ts'
import { useEffect } from 'react'
import { Select } from '../../components/controls/select.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import type { Policies } from '../../data/queries/policies.ts'
import type { Topic } from '../../data/queries/topics.ts'
import { cascadeOf } from '../../domain/policies/cascade.ts'
import { noTopic, type PolicyTexts } from '../../domain/policies/policy-form.ts'
import { sampleTopics } from '../../domain/policies/sample-topic.ts'
import { settingGroups, settingWords, valueWords } from '../../domain/policies/setting-words.ts'
import { sourceWords } from '../../domain/topics/topic-verdict.ts'
import styles from './policies.module.css'

type Props = {
  pattern: string
  policies: Policies
  topics: readonly Topic[]
  texts: PolicyTexts
  faults: Readonly<Partial<Record<SettingName, string>>>
  /** The one that somebody came to change. */
  focused: SettingName | undefined
  onChange: (name: SettingName, text: string) => void
}

export function SettingFields({ pattern, policies, topics, texts, faults, focused, onChange }: Props) {
  const inherited = inheritedOf(pattern, policies, topics)
  useEffect(() => {
    if (focused === undefined) return
    const field = document.querySelector<HTMLElement>(`[data-setting="${CSS.escape(focused)}"]`)
    field?.querySelector<HTMLElement>('input, button')?.focus()
  }, [focused])
  return settingGroups.map(({ title, settings }) => (
    <fieldset key={title}>
      <legend className={styles.legend}>{title}</legend>
      <div className={styles.fields}>
        {settings.map((name) => (
          <div key={name} data-setting={name}>
            <Field
              name={name}
              text={texts[name] ?? ''}
              inherited={inherited.get(name) ?? 'not set'}
              fault={faults[name] ?? null}
              topics={topics}
              onChange={(text) => onChange(name, text)}
            />
          </div>
        ))}
      </div>
    </fieldset>
  ))
}

type FieldProps = {
  name: SettingName
  text: string
  inherited: string
  fault: string | null
  topics: readonly Topic[]
  onChange: (text: string) => void
}

const notSaid = 'not-said'

function Field({ name, text, inherited, fault, topics, onChange }: FieldProps) {
  const { label, kind, note } = settingWords[name]
  const choices = kind === 'switch' ? ['true', 'false'] : typeof kind === 'string' ? null : kind
  if (choices !== null)
    return (
      <Select
        label={label}
        value={text === '' ? notSaid : text}
        choices={[
          { id: notSaid, text: inherited, note: 'not said here' },
          ...choices.map((id) => ({ id, text: kind === 'switch' ? valueWords(name, id === 'true') : id })),
        ]}
        onChange={(id) => onChange(id === notSaid ? '' : id)}
      />
    )
  return (
    <TextField
      label={label}
      value={text}
      onChange={onChange}
      placeholder={inherited}
      note={note === '' ? undefined : note}
      fault={fault}
      {...(kind === 'topic' ? { list: [noTopic, ...topics.map(({ topic }) => topic)] } : {})}
      {...(kind === 'group' ? { list: [noTopic] } : {})}
    />
  )
}

/** What weaker layers say, for the first topic that the pattern matches. */
function inheritedOf(
  pattern: string,
  { policies, configured }: Policies,
  topics: readonly Topic[],
): Map<SettingName, string> {
  const below = { policies: policies.filter((one) => one.pattern !== pattern), configured }
  const { columns, rows } = cascadeOf(below, sampleTopics(pattern, topics))
  return new Map(
    rows.map(({ setting, values, decides }) => [
      setting,
      `${valueWords(setting, values[decides])} (${sourceWords(columns[decides]!)})`,
    ]),
  )
}
