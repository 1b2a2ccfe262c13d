// What is stored beside what will be stored: the value as a difference, everything else in words.

import { Section } from '../../components/show/page.tsx'
import { type EditDraft, editRequest, editWords } from '../../domain/payload/edit-draft.ts'
import { type PatchLine, patchWords } from '../../domain/payload/patch-from-texts.ts'
import { layOut } from '../../domain/payload/value.ts'
import { CodeEditor } from './code-editor.tsx'
import styles from './edit.module.css'

type Props = { stored: EditDraft; draft: EditDraft; lines: readonly PatchLine[] | null }

export function Review({ stored, draft, lines }: Props) {
  const { value } = editRequest(stored, draft)
  const words = [...(lines ?? []).map(patchWords), ...editWords(stored, draft)]
  const [before, after] = sideBySide(stored.value ?? '', draft.value ?? '')
  return (
    <Section title="What will be stored">
      {value === undefined || draft.file !== null ? null : (
        <CodeEditor key={after} text={after} label="Difference to what is stored" original={before} />
      )}
      {words.length === 0 ? null : (
        <ul className={styles.lines} aria-label="Changes">
          {words.map((text, place) => (
            <li key={`${place} ${text}`}>
              <code>{text}</code>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

/** Both laid out, so that the fields that differ stand out; as they are where only white space differs. */
function sideBySide(stored: string, value: string): [string, string] {
  const [before, after] = [layOut(stored), layOut(value)]
  return before === after ? [stored, value] : [before, after]
}
