// Every document: its commands run, its links lead somewhere.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDocumentShell } from 'dlq-testing/documents/document-shell.ts'
import { shellBlocks } from 'dlq-testing/documents/shell-blocks.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { type ServiceProcess, startService } from 'dlq-testing/fleet/service-process.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const documents = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((file) => existsSync(join(root, file)))
const blocks = documents.flatMap((file) => shellBlocks(join(root, file)).map((block) => ({ ...block, file })))
const here = blocks.filter(({ needs, runIn }) => needs === null && runIn === null)

const hasPsql = isThere('psql')
if (!hasPsql) console.log('no psql here, so the commands of documents that use it are not run')

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('the commands of documents', () => {
  const database = useDatabase()
  const logs = useLogFolder()
  const reaper = createReaper()
  const folder = mkdtempSync(join(tmpdir(), 'dlq-handbook-'))
  const token = 'a-token-of-the-handbook'
  const services: ServiceProcess[] = []
  let api = ''

  beforeAll(async () => {
    // A clone after somebody has written a config.yaml.
    for (const name of ['db', 'infra', 'node_modules', 'package.json', 'packages', 'services'])
      symlinkSync(join(root, name), join(folder, name))
    const sha256 = createHash('sha256').update(token).digest('hex')
    writeFileSync(
      join(folder, 'config.yaml'),
      `auth: { tokens: [{ name: handbook, sha256: ${sha256}, role: sys_admin }] }`,
    )
    await insertMessageRow(database.sql)
    const start = async (name: 'api' | 'retrier') => {
      const service = await startService({
        ...{ name, databaseUrl: database.url, kafkaBrokers: [], reaper, logFile: join(logs.path, `${name}.log`) },
        env: { NODE_NO_WARNINGS: '1', DLQ_CONFIG: join(folder, 'config.yaml') },
      })
      services.push(service)
      await service.ready()
      return service.url
    }
    const [url] = await Promise.all([start('api'), start('retrier')])
    await vi.waitFor(async () => expect(await database.sql`select from dlq.dlq_cron_jobs`).not.toHaveLength(0), {
      timeout: 60_000,
    })
    api = url
  })
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop('SIGTERM', 30_000)))
    await reaper.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test.each([...new Set(here.map(({ file }) => file))])('those of %s run, in the order of the page', async (file) => {
    const { PATH = '' } = process.env
    await using shell = openDocumentShell({
      cwd: folder,
      env: {
        PATH: [dirname(process.execPath), PATH].join(':'),
        API: api,
        TOKEN: token,
        DATABASE_URL: database.url,
        KAFKA_BROKERS: '127.0.0.1:9092',
      },
    })
    for (const block of here.filter((block) => block.file === file))
      if (hasPsql || !block.text.includes('psql')) await shell.run(block.text)
  })
})

describe('documents', () => {
  test.each(blocks.filter(({ runIn }) => runIn !== null))(
    '$runIn runs the block at $file:$line, which names it',
    ({ file, runIn }) => {
      const name = file.split('/').at(-1)!
      expect(readFileSync(join(root, runIn!), 'utf8')).toContain(name)
    },
  )

  test('commands that no test runs are valid shell, and name existing scripts and programs', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const { file, line, text } of blocks) {
      execFileSync('bash', ['-n'], { input: text })
      const where = `${file}:${line}`
      for (const [, name] of text.matchAll(/\bnpm (?:run )?([a-z:]+)/g))
        expect(Object.keys(scripts), where).toContain(name)
      for (const [, path] of text.matchAll(/\bnode ([\w./-]+\.ts)/g))
        expect(existsSync(join(root, path!)), `${where}: ${path}`).toBe(true)
      for (const [path] of text.matchAll(/\binfra\/[\w./-]+/g))
        expect(existsSync(join(root, path)), `${where}: ${path}`).toBe(true)
    }
  })

  test('links within the repository lead to existing files and headings', () => {
    const broken = documents.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
        .replaceAll(/^```[\s\S]*?^```/gm, '')
        .replaceAll(/`[^`\n]*`/g, '')
      return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link]) => link!)
        .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(file, link))
        .map((link) => `${file}: ${link}`)
    })
    expect(broken).toEqual([])
  })
})

function leadsSomewhere(file: string, link: string): boolean {
  const [path, anchor] = link.split('#', 2)
  const target = path ? join(root, dirname(file), path) : join(root, file)
  if (!existsSync(target)) return false
  if (anchor === undefined || !target.endsWith('.md')) return true
  const headings = [...readFileSync(target, 'utf8').matchAll(/^#+ +(.*)$/gm)].map(([, heading]) => anchorOf(heading!))
  return headings.includes(anchor)
}

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
