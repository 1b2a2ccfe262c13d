import { expect, test } from 'vitest'
import { openDocumentShell } from './document-shell.ts'
import { findShellBlocks } from './shell-blocks.ts'

const fence = '```'

test('every shell block is found with its line and marks, other blocks are not', () => {
  const page = [
    'Start it:',
    `${fence}sh`,
    'echo one',
    fence,
    `${fence}json`,
    '{}',
    fence,
    '- in a list',
    `  ${fence}sh needs=cluster`,
    '  kubectl get pods',
    `  ${fence}`,
    `${fence}sh in=infra/dev/src/start.kafka.test.ts`,
    'npm start',
    fence,
  ].join('\n')
  expect(findShellBlocks(page)).toEqual([
    { file: 'text', line: 3, text: 'echo one\n', needs: null, runIn: null },
    { file: 'text', line: 10, text: 'kubectl get pods\n', needs: 'cluster', runIn: null },
    { file: 'text', line: 13, text: 'npm start\n', needs: null, runIn: 'infra/dev/src/start.kafka.test.ts' },
  ])
})

test('an unknown mark, shell under another name, and an open fence are refused with their place', () => {
  expect(() => findShellBlocks(`\n${fence}sh needs=patience\n${fence}`)).toThrow('text:2: "needs=patience"')
  expect(() => findShellBlocks(`${fence}bash\n${fence}`)).toThrow('text:1: say sh instead of bash')
  expect(() => findShellBlocks(`${fence}sh\necho`)).toThrow('text:1: the fence is never closed')
})

test('blocks run one after the other in one shell, which sees only the given environment', async () => {
  await using shell = openDocumentShell({ cwd: '/', env: { API: 'http://here' } })
  expect(await shell.run('NAME=$(basename "$API")\ncat')).toBe('')
  expect(await shell.run('echo "$NAME in $PWD"; echo oops >&2')).toBe('here in /\noops\n')
})

test('a block stops at its first command that fails, and reports the output', async () => {
  await using shell = openDocumentShell({ cwd: '/', env: {} })
  await expect(shell.run('echo before\nfalse | true\necho after')).rejects.toThrow('before\n')
  await expect(shell.run('echo more')).rejects.toThrow('a command failed')
})
