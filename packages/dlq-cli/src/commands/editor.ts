// A text in the person's editor. What was typed stays in its file until it is stored somewhere else.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CliError, exitCodes } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'

export type Edited = {
  /** After the person has edited it. Most editors end a file with a line break; one that was not there goes again. */
  text: string
  /** Where it stands, for this user alone. */
  file: string
  /** Deletes the file. */
  discard(): void
}

/** @throws {CliError} where there is no editor, or it ends with a fault, as one does where the person gives up; where it wrote no UTF-8 */
export function openInEditor(text: string, env: NodeJS.ProcessEnv): Edited {
  const editor = env.VISUAL || env.EDITOR
  if (!editor) throw new CliError(exitCodes.configuration, 'set EDITOR to the editor to use')
  const folder = mkdtempSync(join(tmpdir(), 'dlq-'))
  const file = join(folder, 'value.json')
  const discard = () => rmSync(folder, { recursive: true, force: true })
  try {
    writeFileSync(file, text, { mode: 0o600 })
    // $EDITOR may have arguments, so the shell reads it, as git does.
    const { status } = spawnSync('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
    if (status !== 0) throw new CliError(exitCodes.failed, `${editor} ended with ${status}; nothing was changed`)
    if (!existsSync(file)) throw new CliError(exitCodes.failed, `${editor} left no file; nothing was changed`)
  } catch (error) {
    discard()
    throw error
  }
  const edited = textOf(
    readFileSync(file),
    `what was typed is not in UTF-8, and nothing was changed. It is kept in ${file}: save it as UTF-8`,
  )
  return { text: text.endsWith('\n') ? edited : edited.replace(/\r?\n$/, ''), file, discard }
}

/** Exactly the characters of `bytes`. @throws {CliError} with the sentence `otherwise` where they are no UTF-8 */
export function textOf(bytes: Uint8Array, otherwise: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new CliError(exitCodes.failed, otherwise, { cause })
  }
}

/** Does what stores the text. Where it fails, the file stays, and the person learns how to begin again with it. */
export async function storeEdited<Result>(
  { file, discard }: Edited,
  { terminal, command }: { terminal: Terminal; command: string },
  store: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await store()
    discard()
    return result
  } catch (error) {
    terminal.note(`what was typed is kept; to begin again with it: VISUAL="cp '${file}'" ${command}`)
    throw error
  }
}
