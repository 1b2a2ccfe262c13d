// The parts of a message that can be changed. All stay mounted, so that going between them loses nothing.

import { useMemo } from 'react'
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components'
import tabs from '../../components/controls/tabs.module.css'
import { TextField } from '../../components/controls/text-field.tsx'
import type { MessageDetail } from '../../data/queries/messages.ts'
import type { EditDraft, EditRequest } from '../../domain/payload/edit-draft.ts'
import { suspectIn } from '../../domain/payload/suspect.ts'
import { HeaderCells, KeyCell } from './cells.tsx'
import { CodeEditor } from './code-editor.tsx'
import styles from './edit.module.css'
import { ValueFileChoice } from './value-file.tsx'

type Props = {
  message: MessageDetail
  /** What of it differs from what is stored. */
  changed: EditRequest
  /** What the editor began with; typing does not change it. */
  begin: EditDraft
  draft: EditDraft
  /** Why the value cannot be typed; null where it can. */
  whyFile: string | null
  /** It came as JSON, or its schema takes nothing else. */
  isJson: boolean
  onChange: (change: Partial<EditDraft>) => void
  onSubmit: () => void
}

export function EditParts({ message, changed, begin, draft, whyFile, isJson, onChange, onSubmit }: Props) {
  const suspect = useMemo(() => suspectIn(begin.value ?? '', message.error_message), [begin, message.error_message])
  const parts = [
    { id: 'value', name: 'Value', differs: changed.value !== undefined },
    { id: 'key', name: 'Key', differs: changed.key !== undefined },
    { id: 'headers', name: 'Headers', differs: changed.headers !== undefined },
    { id: 'target', name: 'Target topic', differs: changed.target_topic !== undefined },
  ]
  return (
    <Tabs defaultSelectedKey="value">
      <TabList aria-label="Parts of the message" className={tabs.tabs!}>
        {parts.map(({ id, name, differs }) => (
          <Tab key={id} id={id} className={tabs.tab!}>
            {name}
            {differs ? ' · changed' : ''}
          </Tab>
        ))}
      </TabList>
      <TabPanel id="value" shouldForceMount className={styles.panel!}>
        {whyFile === null ? (
          <CodeEditor
            text={begin.value ?? ''}
            label="Value"
            marksFaults={isJson}
            select={suspect}
            onChange={(value) => onChange({ value })}
            onSubmit={onSubmit}
          />
        ) : (
          <ValueFileChoice id={message.id} why={whyFile} file={draft.file} onFile={(file) => onChange({ file })} />
        )}
      </TabPanel>
      <TabPanel id="key" shouldForceMount className={styles.panel!}>
        <KeyCell cell={draft.key} onChange={(key) => onChange({ key })} />
      </TabPanel>
      <TabPanel id="headers" shouldForceMount className={styles.panel!}>
        <HeaderCells headers={draft.headers} onChange={(headers) => onChange({ headers })} />
      </TabPanel>
      <TabPanel id="target" shouldForceMount className={styles.panel!}>
        <TextField
          label="Topic"
          value={draft.target}
          onChange={(target) => onChange({ target })}
          placeholder={message.original_topic}
          note={`Empty: it is sent to ${message.original_topic}, where it came from.`}
          mono
        />
      </TabPanel>
    </Tabs>
  )
}
