// Finds the commands in our documents, so that tests run every one. The words after `sh` at a block's fence say who
// runs it; a rendered page does not show them:
//   sh                  a test of its document runs it, in the order of the page
//   sh in=PATH          the test file at PATH runs it, or the same commands
//   sh needs=cluster    it wants a cluster of the reader's: Kubernetes, Kafka, PostgreSQL
//   sh needs=engine     it wants a container engine
import { readFileSync } from 'node:fs'

export const needs = ['cluster', 'engine'] as const
export type Need = (typeof needs)[number]

/** A shell block of a document: the line of its first command (from 1), and its text without the fence. */
export type ShellBlock = { file: string; line: number; text: string; needs: Need | null; runIn: string | null }

/** Every shell block of a Markdown file, in order. Throws where a mark is unknown, or a fence of another name holds shell. */
export function shellBlocks(file: string): ShellBlock[] {
  return findShellBlocks(readFileSync(file, 'utf8'), file)
}

/** The same of a text; `file` is for messages. */
export function findShellBlocks(markdown: string, file = 'text'): ShellBlock[] {
  const lines = markdown.split('\n')
  const blocks: ShellBlock[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const fence = /^( *)(`{3,}|~{3,}) *(.*)$/.exec(lines[at]!)
    if (!fence) continue
    const [, indent = '', ticks = '', info = ''] = fence
    const end = lines.findIndex((line, index) => index > at && line.trim() === ticks)
    if (end < 0) throw new Error(`${file}:${at + 1}: the fence is never closed`)
    const marks = readMarks(info, `${file}:${at + 1}`)
    if (marks) {
      const text = lines.slice(at + 1, end).map((line) => line.slice(indent.length))
      blocks.push({ file, line: at + 2, text: `${text.join('\n')}\n`, ...marks })
    }
    at = end
  }
  return blocks
}

/** How a fence marks its block. Null where the block is no shell. */
function readMarks(info: string, where: string): Pick<ShellBlock, 'needs' | 'runIn'> | null {
  const [language = '', ...words] = info.trim().split(/\s+/)
  if (['bash', 'shell', 'console', 'zsh'].includes(language))
    throw new Error(`${where}: say sh instead of ${language}, so that its commands are found`)
  if (language !== 'sh') return null
  let need: Need | null = null
  let runIn: string | null = null
  for (const word of words) {
    const [name, value = ''] = word.split('=', 2)
    if (name === 'needs' && needs.includes(value as Need)) need = value as Need
    else if (name === 'in' && value.endsWith('.test.ts')) runIn = value
    else throw new Error(`${where}: "${word}" is neither needs=${needs.join('|')} nor in=FILE.test.ts`)
  }
  return { needs: need, runIn }
}
