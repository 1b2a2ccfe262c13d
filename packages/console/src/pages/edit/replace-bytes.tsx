// A value that is no text, or too large for an editor: it is downloaded, changed elsewhere, and replaced by a file.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { FileTrigger } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { FaultText } from '../../components/show/fault.tsx'
import { ActionBar, Verdict } from '../../components/show/page.tsx'
import { apiBase } from '../../data/api.ts'
import { faultOf } from '../../data/faults.ts'
import { changeMessage } from '../../data/queries/messages.ts'
import { useMissingRole } from '../../data/session.ts'
import { toBase64 } from '../../domain/payload/hex.ts'
import { bytesText } from '../../domain/words.ts'

type Props = { id: string; etag: string | null; size: string; isText: boolean }

export function ReplaceBytes({ id, etag, size, isText }: Props) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const refusal = useMissingRole('sys_operator')
  const [file, setFile] = useState<File | null>(null)
  const save = useMutation({
    mutationFn: async (from: File) =>
      changeMessage(id, { value: { base64: toBase64(new Uint8Array(await from.arrayBuffer())) } }, etag),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['message', id] })
      await navigate({ to: '/messages/$id', params: { id }, search: {} })
    },
  })
  return (
    <>
      <Verdict>
        The value has {size}
        {isText ? ', too much for an editor' : ' that are no text'}. Download it, change it, and put the file in its
        place.
      </Verdict>
      {save.error === null ? null : <FaultText fault={faultOf(save.error)} what="Not replaced" />}
      <ActionBar label="Replace the value">
        <a href={`${apiBase}/api/v1/dlq/messages/${id}/value`} download>
          Download
        </a>
        <FileTrigger onSelect={(files) => setFile(files?.[0] ?? null)}>
          <Button refusal={refusal}>{file === null ? 'Choose a file' : `${file.name}, ${bytesText(file.size)}`}</Button>
        </FileTrigger>
        <Button
          look="primary"
          refusal={refusal}
          isDisabled={file === null || save.isPending}
          onPress={() => file !== null && save.mutate(file)}
        >
          {save.isPending ? 'Replacing …' : 'Replace the value'}
        </Button>
      </ActionBar>
    </>
  )
}
