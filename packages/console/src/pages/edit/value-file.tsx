// A value that is no text, or too large for an editor: it is downloaded, changed elsewhere, and replaced by a file.

import { FileTrigger } from 'react-aria-components'
import { Button, buttonClass } from '../../components/controls/button.tsx'
import { apiBase } from '../../data/api.ts'
import { useUnmask } from '../../data/queries/content/masked.ts'
import { bytesPath } from '../../data/queries/messages.ts'
import type { ValueFile } from '../../domain/payload/edit-draft.ts'
import { toBase64 } from '../../domain/payload/hex.ts'
import { bytesText } from '../../domain/words.ts'
import styles from './edit.module.css'

type Props = {
  id: string
  /** "a value of 4.0 MiB is too much for an editor" */
  why: string
  file: ValueFile | null
  onFile: (file: ValueFile | null) => void
}

export function ValueFileChoice({ id, why, file, onFile }: Props) {
  const unmask = useUnmask(id)
  const read = async (chosen: File | undefined) => {
    if (chosen === undefined) return
    const bytes = new Uint8Array(await chosen.arrayBuffer())
    onFile({ name: chosen.name, size: bytes.length, base64: toBase64(bytes) })
  }
  return (
    <div className={styles.file}>
      <p>{why} Download it, change it, and put the file in its place.</p>
      <p className={styles.fileRow}>
        <a className={buttonClass()} href={`${apiBase}${bytesPath(id, 'value', unmask)}`} download>
          Download
        </a>
        <FileTrigger onSelect={(files) => void read(files?.[0])}>
          <Button>{file === null ? 'Choose a file' : 'Choose another file'}</Button>
        </FileTrigger>
        {file === null ? null : (
          <>
            <span>
              {file.name}, {bytesText(file.size)}
            </span>
            <Button look="quiet" onPress={() => onFile(null)}>
              Leave the value as it is
            </Button>
          </>
        )}
      </p>
    </div>
  )
}
