// Offers the messages of a filter as a file.

import { Menu } from '../../components/controls/menu.tsx'
import { apiBase } from '../../data/api.ts'
import { useMissingExports } from '../../data/session.ts'
import { printSearch } from '../../domain/addresses.ts'

const formats = ['ndjson', 'csv', 'json']

export function ExportMenu({ filter }: { filter: Parameters<typeof printSearch>[0] }) {
  return (
    <Menu
      label="Export"
      refusal={useMissingExports()}
      choices={formats.map((format) => ({
        id: format,
        text: format,
        href: `${apiBase}/api/v1/messages/export${printSearch({ format, ...filter })}`,
      }))}
      onChoose={() => undefined}
    />
  )
}
