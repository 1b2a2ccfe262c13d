// A shell for the commands of a document. A block sees the variables of the blocks before it, as in the terminal of a
// reader who types them in order.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'

export type DocumentShell = {
  /**
   * Runs one block and returns what it printed, errors included. Throws, with that output, as soon as a
   * command of it fails; the shell has then ended.
   */
  run(text: string): Promise<string>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a bash that sees `env` only, besides PATH and HOME, in the folder `cwd`. */
export function openDocumentShell({ cwd, env }: { cwd: string; env: Record<string, string> }): DocumentShell {
  const { PATH = '', HOME = '' } = process.env
  const shell = spawn('bash', ['-s'], { cwd, env: { PATH, HOME, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  let wake = () => {}
  const note = (chunk: Buffer) => {
    output += chunk.toString()
    wake()
  }
  shell.stdout.on('data', note)
  shell.stderr.on('data', note)
  // Writing to a shell that has ended is told by its end.
  shell.stdin.on('error', () => {})
  let ended = false
  const end = new Promise<void>((resolve) =>
    shell.once('close', () => {
      ended = true
      resolve()
      wake()
    }),
  )

  return {
    async run(text) {
      const marker = `done-${randomUUID()}`
      output = ''
      // A command that reads its input must not eat the ones that follow it.
      shell.stdin.write(`set -euo pipefail\n{\n${text}\n} < /dev/null 2>&1\nset +eu\necho ${marker}\n`)
      while (!output.includes(marker)) {
        if (ended) throw new Error(`a command failed:\n${text}\n${output}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return output.slice(0, output.indexOf(marker))
    },
    async [Symbol.asyncDispose]() {
      shell.stdin.end()
      await end
    },
  }
}
